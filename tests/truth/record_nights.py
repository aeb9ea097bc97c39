"""Runs between the lab's hosts, one after the other, as lines of ``tests/data/nights/lab.txt``.

``python tests/truth/record_nights.py 39`` prints them; as root, on a machine that does nothing else.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.documents import large_files
from lab.nas import Held, nas
from lab.network import network
from lab_planted import Asked, ask, by_smb
from test_predicted import letters

from pathtrace.store.index import History

LETTERS, WEIGHTS = 2500, 200_000_000
REPEATS = 5
_PLACES = """\
ARCHIVEWEIGHTS\
  indexer: {kind: process, run: chunk}
  library: {kind: database, url: "sqlite://", batch: 100}
  people: {kind: user}
"""
_FLOWS = """\
  index: {path: [archive, indexer, library]}
  load: {path: [weights, reader], frequency: per-load}
  answer: {path: [library, people], frequency: per-request}
"""


def fill(folder: Path) -> None:
    (folder / "letters").mkdir()
    letters(LETTERS)(folder / "letters")
    (folder / "models").mkdir()
    large_files(folder / "models", sizes=[WEIGHTS], seed=1)


def record(count: int) -> None:
    """``count`` runs, each with a server that has nothing in its memory."""
    with (
        network("1gbit") as net,
        nas(net.nas, fill, held=Held()) as box,
        tempfile.TemporaryDirectory() as room,
    ):
        weights = by_smb(box, "models/large0.bin", "data: weights").replace("archive:", "weights:", 1)
        places = _PLACES.replace("ARCHIVE", by_smb(box, "letters")).replace("WEIGHTS", weights)
        asked = Asked(places, _FLOWS, repeats=REPEATS, more=("--no-probes",))
        for number in range(count):
            outcome = ask(net, box, asked, Path(room))
            assert outcome.code == 0, outcome.err
            with History(Path(room) / "store") as history:
                history.refresh()
                night = max(history.entries(), key=lambda entry: entry.id)
            if number == 0:
                print(";".join(("others", *(took.name for took in night.took))))
            percent = outcome.document["other_activity"]["workstation"]["cpu_percent"]
            cells = (f"{took.median_s:.5g} {took.low_s:.5g} {took.high_s:.5g}" for took in night.took)
            print(";".join((f"{percent:.0f}", *cells)), flush=True)


if __name__ == "__main__":
    record(int(sys.argv[1]))
