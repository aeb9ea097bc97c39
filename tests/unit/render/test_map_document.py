import json

from pathtrace.render.map_document import map_document
from tests.unit.render import example


def test_a_drawing_with_figures_holds_them_and_one_without_holds_null() -> None:
    document = map_document(
        [(example.SCENARIO, None, None), (example.SCENARIO, example.RUN.id, example.REPORT)]
    )
    plain, measured = json.loads(json.dumps(document, allow_nan=False))["maps"]
    assert plain["hops"][1] == {
        "flow": "index",
        "name": "archive->indexer",
        "from": "archive",
        "to": "indexer",
        "link": "lan 1 Gbit/s",
        "interface": None,
        "interface_kind": None,
        "phase": "ingest",
        "frequency": "every 24 h",
        "observed_frequency": None,
        "at_every_request": False,
        "bytes": None,
        "duration_s": None,
        "throughput": None,
        "limited_by": None,
    }
    assert measured["hops"][0]["at_every_request"] is True
    assert measured["hops"][1]["throughput"]["bytes_per_s"] == 30_948_262.0
    assert measured["hops"][1]["interface"] == "eth0"
    assert [host["name"] for host in plain["hosts"]] == ["nas", "workstation"]
