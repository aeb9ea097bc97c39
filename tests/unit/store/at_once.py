"""A process that reads history again and again while others do the same, for as long as it is told to."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from pathtrace.store.index import History


def main(store: Path, seconds: float) -> None:
    draw = random.Random()
    until_s = time.monotonic() + seconds
    looked = 0
    while time.monotonic() < until_s:
        with History(store) as history:
            (history.rebuild if draw.random() < 0.2 else history.refresh)()
            seen = {entry.id for entry in history.entries()}
            assert len(seen) >= 20
            assert seen <= set(history.labels())
        looked += 1
    print(looked)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
