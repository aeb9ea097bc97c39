"""What differs between two runs, which of it was expected, and whether one cause remains.

Knows named facts only (``run_facts``). What makes two runs incomparable is for ``comparability``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from pathtrace.analysis.comparing.run_facts import Fact, Facts
from pathtrace.errors import UsageError
from pathtrace.model.comparison import Difference
from pathtrace.model.run import Run

NOTHING, UNCLEAR = "none", "unclear"
_RESOURCES = ("link", "loss", "mtu", "disk", "server", "cpu", "gpu", "commit", "database", "model")


def differences(before: Facts, after: Facts, changed: Sequence[str]) -> tuple[Difference, ...]:
    """Every fact whose value is another, in the order of the facts; ``changed``: what was expected to."""
    names = dict.fromkeys((*before, *after))
    return tuple(found for what in names if (found := _difference(what, before, after, changed)))


def _difference(what: str, before: Facts, after: Facts, changed: Sequence[str]) -> Difference | None:
    old, new = before.get(what), after.get(what)
    fact = new or old
    assert fact is not None
    was, became = (each.value if each else None for each in (old, new))
    if was == became:
        return None
    known = fact.absent_is_known or (was is not None and became is not None)
    meant = any(_means(name, what, each) for name in changed for each in (old, new) if each is not None)
    return Difference(what, was, became, meant, fact.cause, fact.matters and known)


def _means(name: str, what: str, fact: Fact) -> bool:
    """``lan`` means all that belongs to it, ``library.batch`` that alone, ``disk:archive`` the place."""
    kind, _, subject = name.partition(":")
    called = subject if subject and kind in _RESOURCES and name != fact.cause else name
    return called in (what, fact.cause, *fact.names) or what.startswith(f"{called}.")


def cause(found: Sequence[Difference], changed: Sequence[str]) -> str:
    """The one thing that differs and may matter; ``none`` or ``unclear``."""
    matter = [each for each in found if each.matters]
    causes = list(dict.fromkeys(each.cause for each in matter if not each.expected))
    if any(each.expected for each in matter):
        causes.insert(0, ", ".join(dict.fromkeys(changed)))
    if not causes:
        return NOTHING
    return causes[0] if len(causes) == 1 else UNCLEAR


def unexpected(found: Sequence[Difference]) -> tuple[str, ...]:
    """What may matter and was not expected, each once."""
    return tuple(dict.fromkeys(each.cause for each in found if each.matters and not each.expected))


def require_known(changed: Sequence[str], runs: Sequence[Run], facts: Sequence[Facts]) -> None:
    """UsageError, with the nearest match, where one of ``changed`` is nothing that any run has."""
    known = dict.fromkeys((*_names(runs), *(name for each in facts for name in _all(each))))
    for name in changed:
        if any(_means(name, what, fact) for each in facts for what, fact in each.items()) or name in known:
            continue
        near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else "name a link, host, place, or one of its options"
        raise UsageError(f"--changed {name!r} is nothing that these runs have", hint=hint)


def _names(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        yield from (link.name for link in run.scenario.links)
        yield from (host.name for host in run.scenario.hosts)
        yield from (place.name for place in run.scenario.places)


def _all(facts: Facts) -> Iterator[str]:
    for what, fact in facts.items():
        yield from (what, fact.cause)
