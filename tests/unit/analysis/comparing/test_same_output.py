from dataclasses import replace

from pathtrace.analysis import analyse
from pathtrace.analysis.comparing.same_output import same_output
from pathtrace.model.comparison import Output, OutputDifference
from pathtrace.model.report import Report, StageReport
from pathtrace.model.run import Run
from tests.unit.analysis.compared import run

RUN = run()
REPORT = analyse(RUN)


def with_stage(number: int, **changed: object) -> Report:
    """The report with something else at one stage of its first hop that has it."""
    hops = []
    for hop in REPORT.hops:
        stages = tuple(
            replace(stage, **changed) if stage.action == STAGES[number] else stage  # type: ignore[arg-type]
            for stage in hop.stages
        )
        hops.append(replace(hop, stages=stages))
    return replace(REPORT, hops=tuple(hops))


STAGES = ("read", "process", "insert")


def held(report: Report, after: Run = RUN) -> Output:
    return same_output(RUN, REPORT, after, report, ())


def stage(action: str) -> StageReport:
    return next(each for hop in REPORT.hops for each in hop.stages if each.action == action)


def test_the_same_is_the_same() -> None:
    assert held(REPORT) == Output(True, (), (None, None), False)


def test_documents_that_failed_are_less_output() -> None:
    done = stage("read").operations
    assert held(with_stage(0, errors=2)).differences == (
        OutputDifference("index, read@archive", "operations that succeeded", done, done - 2),
    )


def test_batches_may_be_cut_otherwise_but_rows_may_not_be_fewer() -> None:
    assert held(with_stage(2, operations=99)).same is True
    rows = stage("insert").bytes
    assert held(with_stage(2, bytes=rows - 1)).differences == (
        OutputDifference("index, insert@library", "bytes", rows, rows - 1),
    )


def test_what_an_answer_is_long_may_vary_and_how_many_there_are_may_not() -> None:
    answered = [replace(stage("read"), action=action) for action in ("lookup", "generate", "deliver")]
    before = replace(REPORT, hops=(replace(REPORT.hops[0], stages=tuple(answered)),))
    longer = tuple(replace(each, bytes=each.bytes + 5) for each in answered)
    after = replace(REPORT, hops=(replace(REPORT.hops[0], stages=longer),))
    assert same_output(RUN, before, RUN, after, ()).same is True
    fewer = tuple(replace(each, operations=each.operations - 1) for each in answered)
    lost = replace(REPORT, hops=(replace(REPORT.hops[0], stages=fewer),))
    assert [each.subject for each in same_output(RUN, before, RUN, lost, ()).differences] == [
        "index, lookup@archive",
        "index, generate@archive",
        "index, deliver@archive",
    ]


def test_checks_that_pass_less_often_are_another_output() -> None:
    before, after = run(passed=(True, True)), run(passed=(True, False))
    found = same_output(before, REPORT, after, REPORT, ())
    assert (found.same, found.checks) == (False, (1.0, 0.5))
