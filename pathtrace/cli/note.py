"""``pathtrace note``."""

from __future__ import annotations

from pathlib import Path

import click

from pathtrace.cli.options import debug_option, given_store, store_option, usable_label
from pathtrace.errors import EXIT_DONE, UsageError


@click.command("note")
@click.argument("run", metavar="RUN")
@click.argument("text", required=False, metavar="[TEXT]")
@click.option(
    "--attach", multiple=True, metavar="FILE", type=click.Path(path_type=Path), help="Copy a file to the run."
)
@click.option("--label", metavar="TEXT", callback=usable_label, help="Find the run by this name from now on.")
@click.option("--pin/--unpin", default=None, help="Keep its samples for ever; or for as long as others.")
@store_option
@debug_option
def command(
    run: str,
    text: str | None,
    attach: tuple[Path, ...],
    label: str | None,
    pin: bool | None,
    store: Path | None,
) -> int:
    """Keep a remark, a file, a label or a pin with a run.

    RUN is an id, the beginning of one, a label, a run's folder, or 'last',
    'last~1' and so on. 'pathtrace history' shows what was noted.

    \b
    Example:
      pathtrace note last "new cable between NAS and switch" --attach cable.jpg
    """
    from datetime import UTC, datetime

    from pathtrace.app.marking import Saying, note
    from pathtrace.cli import streams

    if text is not None and not text.strip():
        text = None
    if text is None and not attach and label is None and pin is None:
        raise UsageError(
            "nothing is to be kept with the run", hint=f'write it behind: pathtrace note {run} "new cable"'
        )
    said = note(given_store(store), run, Saying(text, attach, label, pin), datetime.now(UTC))
    done = [
        *(["noted"] if text else []),
        *(f"attached {name}" for name in said.attached),
        *([f"labelled {said.marks.label}"] if label else []),
        *([] if pin is None else [_pinned(said.before.pinned, pin)]),
    ]
    streams.say(f"{said.run}: {', '.join(done)}")
    return EXIT_DONE


def _pinned(was: bool, now: bool) -> str:
    if was == now:
        return "pinned already" if now else "was not pinned"
    return "pinned" if now else "no longer pinned"
