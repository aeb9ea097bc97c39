from __future__ import annotations

from pathtrace.analysis.stand_ins import stand_ins
from tests.unit.analysis.builders import scenario


def searched(library: str = 'kind: database, url: "sqlite://"', archive: str = "path: /data") -> str:
    return f"""pathtrace: 1
places:
  archive: {{kind: files, {archive}}}
  chunker: {{kind: process, run: chunk}}
  library: {{{library}}}
  people: {{kind: user}}
flows:
  index: {{path: [archive, chunker, library]}}
  answer: {{path: [library, people]}}
"""


MADE = "make: {files: 3, bytes: 3 MiB, kind: text}"


def test_a_hop_rests_on_the_stand_ins_at_its_ends() -> None:
    assert stand_ins(scenario(searched()), "index", "archive->chunker") == ("chunker",)
    assert stand_ins(scenario(searched(archive=MADE)), "index", "archive->chunker") == ("archive", "chunker")


def test_a_search_among_made_up_documents_rests_on_them() -> None:
    assert stand_ins(scenario(searched(archive=MADE)), "answer", "library->people") == ("archive",)


def test_a_search_among_real_documents_rests_on_nothing() -> None:
    assert stand_ins(scenario(searched()), "answer", "library->people") == ()


def test_a_query_of_the_users_own_database_rests_on_nothing() -> None:
    own = (
        'kind: database, url: "sqlite:///library.db", query: "SELECT text FROM notes WHERE text = :question"'
    )
    assert stand_ins(scenario(searched(own, MADE)), "answer", "library->people") == ()
