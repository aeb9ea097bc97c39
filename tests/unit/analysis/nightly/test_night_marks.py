from __future__ import annotations

from pathtrace.analysis.nightly.night_marks import likeliest, marks
from pathtrace.model.history import EnvironmentMark, HistoryEntry
from tests.unit.analysis.made_nights import entry, run_id

HOUSE = {
    "kernel of nas": "Linux 6.12",
    "kernel of workstation": "Linux 6.12",
    "link lan": "2500 Mbit/s",
    "mount of archive": "nfs4, nas:/volume1/archive",
    "server of library": "PostgreSQL 15.4",
}


def house(*nights: dict[str, str]) -> list[HistoryEntry]:
    """Each night with what is not as at the first."""
    found = []
    known = dict(HOUSE)
    for night, changed in enumerate(nights):
        known |= changed
        found.append(entry(night, (), environment=tuple(sorted(known.items()))))
    return found


def test_each_value_that_is_another_than_before_is_a_mark() -> None:
    entries = house({}, {"link lan": "1000 Mbit/s"}, {}, {"kernel of nas": "Linux 6.18"})
    assert marks(entries) == (
        EnvironmentMark(run_id(1), "link lan", "2500 Mbit/s", "1000 Mbit/s"),
        EnvironmentMark(run_id(3), "kernel of nas", "Linux 6.12", "Linux 6.18"),
    )


def test_a_night_that_saw_nothing_hides_no_mark_and_makes_none() -> None:
    entries = [*house({}), entry(1, ()), *house({}, {}, {}, {"link lan": "1000 Mbit/s"})[2:]]
    assert marks(entries) == (EnvironmentMark(run_id(3), "link lan", "2500 Mbit/s", "1000 Mbit/s"),)


def test_the_order_of_the_entries_does_not_matter() -> None:
    entries = house({}, {"link lan": "1000 Mbit/s"}, {"link lan": "100 Mbit/s"})
    assert marks(entries[::-1]) == marks(entries)


def ranked(name: str, resource: str, changed: dict[str, str]) -> list[str]:
    entries = house(*[{}] * 5, changed, {}, {})
    return [mark.what for mark in likeliest(entries, 5, 3, name, (resource, None))]


ALL = {
    "kernel of nas": "Linux 6.18",
    "kernel of workstation": "Linux 6.18",
    "link lan": "1000 Mbit/s",
    "server of library": "PostgreSQL 15.5",
}


def test_the_link_comes_first_where_a_link_limits() -> None:
    assert ranked("load/weights->model", "link:lan", ALL)[0] == "link lan"


def test_the_places_own_server_comes_first_where_it_limits() -> None:
    assert ranked("index/embedder->library", "database:library", ALL)[0] == "server of library"


def test_the_host_that_a_place_lies_on_is_known_from_its_mount() -> None:
    assert ranked("index/archive->indexer", "disk:archive", ALL)[0] == "kernel of nas"


def test_of_as_likely_ones_the_nearer_night_comes_first() -> None:
    entries = house({}, {}, {}, {"Python": "3.12"}, {}, {"pathtrace": "2"})
    entries = house({"Python": "3.11", "pathtrace": "1"}, {}, {}, {"Python": "3.12"}, {}, {"pathtrace": "2"})
    found = likeliest(entries, 5, 3, "load", ("unknown",))
    assert [mark.what for mark in found] == ["pathtrace", "Python"]


def test_what_changed_long_before_is_not_named() -> None:
    entries = house({}, {"link lan": "1000 Mbit/s"}, *[{}] * 6)
    assert likeliest(entries, 6, 3, "load", ("link:lan",)) == ()
