"""Options of commands that hold one run against another: what was meant to change, and what it cost."""

from __future__ import annotations

import click

changed_option = click.option(
    "--changed", multiple=True, metavar="NAME", help="What was meant to differ: a link, a place, …"
)
price_option = click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=MONEY",
    help='What of that cost money, as in lan=120 or lan="120 EUR".',
)
