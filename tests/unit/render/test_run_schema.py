from dataclasses import replace

import jsonschema
import pytest

from pathtrace.model.report import Report
from pathtrace.model.run import Run
from pathtrace.render.json_document import run_document
from pathtrace.render.run_schema import run_schema
from tests.unit.render import example

VALIDATOR = jsonschema.Draft202012Validator(run_schema())


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(run_schema())


@pytest.mark.parametrize(
    ("run", "report"),
    [
        (example.RUN, example.REPORT),
        (example.PARTIAL_RUN, example.PARTIAL_REPORT),
        (example.RUN, replace(example.REPORT, requests=example.REPORT.requests * 2)),
    ],
    ids=["complete", "partial", "several load levels"],
)
def test_documents_keep_to_the_schema(run: Run, report: Report) -> None:
    assert list(VALIDATOR.iter_errors(run_document(run, report))) == []


@pytest.mark.parametrize("key", sorted(run_document(example.RUN, example.REPORT)))
def test_a_document_without_a_key_is_refused(key: str) -> None:
    document = run_document(example.RUN, example.REPORT)
    del document[key]
    assert not VALIDATOR.is_valid(document)


def test_the_schema_names_every_key_of_a_hop_and_no_other() -> None:
    [hop, *_] = run_document(example.RUN, example.REPORT)["hops"]
    assert list(run_schema()["properties"]["hops"]["items"]["properties"]) == list(hop)
