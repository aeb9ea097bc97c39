import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.schedule import Job
from pathtrace.scheduling import metadata
from pathtrace.scheduling.times import Times

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)


@given(TEXT, TEXT, st.lists(TEXT, max_size=3), st.none() | TEXT)
def test_what_is_written_is_one_line_and_read_back(
    scenario: str, store: str, options: list[str], secrets: str | None
) -> None:
    times = Times(86_400, 3, 17, 2)
    job = Job("pathtrace-scan-a", scenario, store, "/", "/python", 60, "/bin", tuple(options), secrets)
    text = metadata.written(job, times)
    assert text.isascii()
    assert "\n" not in text
    assert metadata.read(text) == metadata.Told(scenario, store, "/", secrets, tuple(options), times, 60)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"times": [1]}', "{" * 2000, '{"times": ["x", 1, 2, 3]}']
)
def test_what_was_spoiled_by_hand_tells_nothing(text: str) -> None:
    assert metadata.read(text) is None


@given(TEXT)
def test_a_name_is_plain_and_differs_by_folder(stem: str) -> None:
    name = metadata.name_of(f"/a/{stem}.yaml")
    assert metadata.NAME.fullmatch(name)
    assert name != metadata.name_of(f"/b/{stem}.yaml")


def test_a_name_says_which_file_it_is() -> None:
    assert metadata.name_of("/srv/My lab's 100%.yaml").startswith("pathtrace-scan-my-lab-s-100-")
