"""Several hosts, shaped cables and real servers on one machine.

By hand: ``python -m tests.truth.lab up --link 1gbit`` from the checkout. From a test, which pytest
imports with `tests/truth` on the path: ``from lab.network import network``. Inside the package imports
are relative, so that both names work; the line below lets the package find its neighbours
(`lab_leftovers` and others) in either case.
"""

from __future__ import annotations

import sys
from pathlib import Path

_BESIDE = str(Path(__file__).resolve().parent.parent)
if _BESIDE not in sys.path:
    sys.path.append(_BESIDE)
