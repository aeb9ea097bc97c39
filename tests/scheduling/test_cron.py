import json
import shlex
from pathlib import Path

import pytest

from pathtrace.model.schedule import Job
from pathtrace.scheduling.cron import block
from pathtrace.scheduling.times import Times
from tests.cli.command import STAND_INS
from tests.scheduling import private, stand_in

EVERY_MINUTE = Times(60, 3, 7)


def hostile_job(folder: Path, word: str, number: int) -> Job:
    """A scenario below a hostile name, started by a hostile interpreter in a hostile folder."""
    place = folder / "it's 100% $HOME \\% now"
    place.mkdir(exist_ok=True)
    python = stand_in.make(place / "python 3", folder / "notes")
    return Job(
        f"pathtrace-scan-{number}",
        f"/srv/{word}.yaml",
        "/a b",
        str(place),
        str(python),
        60,
        "/usr/bin:/b%c",
        (word,),
    )


@pytest.mark.needs_root
@pytest.mark.timeout(180)
def test_debians_cron_runs_an_added_scan_twice_and_hostile_words_arrive_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "my lab's 100%.yaml").write_text(STAND_INS)
    jobs = [hostile_job(tmp_path, word, number) for number, word in enumerate(stand_in.HOSTILE)]
    lines = b"".join(block(job, EVERY_MINUTE, "root").to_bytes() for job in jobs)
    (tmp_path / "hostile").write_bytes(lines)
    runs = tmp_path / "runs"
    private.with_cron(
        f"""
        "$PYTHON" -m pathtrace schedule add "my lab's 100%.yaml" --cron --every 1min --json >added
        cp hostile /etc/cron.d/hostile
        cron -f & cron=$!
        twice() {{ test $(ls {shlex.quote(str(runs))} 2>/dev/null | grep -c '^[0-9]') -ge 2; }}
        for second in $(seq 140); do twice && break; sleep 1; done
        kill $cron
        """,
        tmp_path,
        timeout=170,
    )
    folders = sorted(path for path in runs.iterdir() if path.name[:1].isdigit())
    assert len(folders) >= 2
    calls = stand_in.noted(tmp_path / "notes")
    expected = {json.dumps(called(job)) for job in jobs}
    assert {json.dumps(call) for call in calls} == expected
    assert not list(tmp_path.rglob("never"))


def called(job: Job) -> dict[str, object]:
    return {"words": [*job.words[1:], "--quiet"], "folder": job.folder, "path": job.path, "secret": None}
