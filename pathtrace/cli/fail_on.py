"""``--fail-on slower:5%``: from where on a slower flow is a bad verdict."""

from __future__ import annotations

import click

from pathtrace.errors import UsageError

SLOWER = "slower"


def _limit(ctx: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """``slower:5%`` as a ratio."""
    from pathtrace.units import parse_ratio

    if text is None:
        return None
    word, colon, limit = text.partition(":")
    if word.strip() != SLOWER or not colon:
        raise UsageError(f"--fail-on {text!r} is not known", hint="write it as in --fail-on slower:5%")
    return parse_ratio(limit)


fail_on_option = click.option(
    "--fail-on", metavar="slower:5%", callback=_limit, help="Exit code 1 if a flow is so much slower."
)


def is_slower(ratio: float, low: float, limit: float) -> bool:
    """By ``limit`` or more, and surely slower. ``low``: of the ratio's interval."""
    return low > 1 and ratio >= 1 + limit
