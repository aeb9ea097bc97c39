"""A control group (version 1) of the lab's own for a process and all below it.

What a crashed run left is in the lab's journal like everything else; groups that the lab did not make
are not touched.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab_leftovers import claimed, family

_CONTROLLERS = Path("/sys/fs/cgroup")


def why_not(controller: str, *limits: str) -> str | None:
    """Why no limit of ``controller`` can be set here, or None. ``limits``: files that show it is there."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return f"a limit of {controller} needs root"
    known = (*limits, "cgroup.procs")
    if not any((_CONTROLLERS / controller / each).exists() for each in known):
        return f"a limit of {controller} needs version 1 control groups"
    return None


@contextlib.contextmanager
def limited(pid: int, controller: str, settings: Mapping[str, str]) -> Iterator[Path]:
    """Hold ``pid`` and all below it, now and later, to ``settings`` (file: text); yields the group."""
    with claimed(f"{controller}-limit") as claim:
        group = _CONTROLLERS / controller / f"pathtrace-lab-{claim.folder.name}"
        claim.will_limit(group)
        group.mkdir()
        for name, text in settings.items():
            (group / name).write_text(text)
        for each in family(pid):
            with contextlib.suppress(ProcessLookupError):
                (group / "cgroup.procs").write_text(str(each))
        yield group
