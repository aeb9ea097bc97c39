from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.places.file_list import compile_globs, list_tree, shown, take_sample


def matches(pattern: str, path: str) -> bool:
    compiled = compile_globs((pattern,))
    assert compiled is not None
    return compiled.fullmatch(path) is not None


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("**/*.pdf", ["a.pdf", "x/a.pdf", "x/y/.a.pdf"], ["a.PDF", "a.pdfx", "pdf"]),
        ("*.pdf", ["a.pdf", ".pdf"], ["x/a.pdf"]),
        ("a/**", ["a/b", "a/b/c"], ["ab", "b/a"]),
        ("drafts", ["drafts", "drafts/x", "drafts/x/y"], ["x/drafts", "draftsx"]),
        ("drafts/", ["drafts/x"], ["drafty"]),
        ("**/drafts", ["drafts/x", "x/drafts/y"], ["xdrafts/y"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("[!a-c]x", ["dx"], ["bx", "/x"]),
        ("[x", ["[x"], ["x"]),
        ("a.b", ["a.b"], ["axb"]),
        ("./a", ["a"], []),
    ],
)
def test_globs_mean_what_their_description_says(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in yes if not matches(pattern, path)] == []
    assert [path for path in no if matches(pattern, path)] == []


@given(st.text(max_size=30))
def test_any_pattern_compiles(pattern: str) -> None:
    compile_globs((pattern,))


@given(st.text(alphabet="abc./- ", min_size=1).map(lambda text: text.removeprefix("./").strip("/")))
def test_a_name_without_wildcards_matches_itself(name: str) -> None:
    assert not name or name.startswith("./") or matches(name, name)


@given(
    st.sets(
        st.binary(min_size=1, max_size=12).filter(lambda n: not {0, 47} & {*n} and n not in (b".", b".."))
    )
)
def test_a_list_keeps_every_name_and_size_in_order(names: set[bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        root = os.fsencode(folder)
        for name in names:
            Path(os.fsdecode(root + b"/" + name)).write_bytes(name)
        listed = list_tree(root, (), (), lambda: False)
        got = [(listed.name(i), listed.sizes[i]) for i in range(len(listed))]
    assert got == [(name, len(name)) for name in sorted(names)]
    assert listed.total_bytes == sum(map(len, names))


def test_exclude_wins_and_folders_of_our_own_are_never_listed(tmp_path: Path) -> None:
    for name in ("a.txt", "b/a.txt", "b/no/a.txt", ".pathtrace-1/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    listed = list_tree(os.fsencode(tmp_path), ("**/*.txt",), ("**/no",), lambda: False)
    assert [listed.name(i) for i in range(len(listed))] == [b"a.txt", b"b/a.txt"]


def test_a_sample_is_part_of_the_list(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}").write_bytes(b"x" * number)
    listed = list_tree(os.fsencode(tmp_path), (), (), lambda: False)
    sample = take_sample(listed, 5, seed=3)
    names = [sample.name(i) for i in range(len(sample))]
    assert names == sorted(names)
    assert [sample.sizes[i] for i in range(5)] == [int(name) for name in names]
    assert sample.total_bytes == sum(sample.sizes)


def test_listing_ends_when_told(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}").touch()
    assert len(list_tree(os.fsencode(tmp_path), (), (), lambda: True)) == 0


def test_what_cannot_be_printed_is_escaped() -> None:
    assert shown(b"a\nb\xff\x1b") == "a\\nb\\xff\\x1b"
    assert shown("grün") == "grün"
