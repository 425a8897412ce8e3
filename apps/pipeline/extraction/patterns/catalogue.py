"""All typed rows in the order in which they are tried, by the verb at the beginning of a phrase."""

from collections.abc import Mapping

from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.extraction.patterns.topics import (
    events,
    family,
    health,
    hobbies,
    home,
    identity,
    plans,
    possessions,
    skills,
    tastes,
    work,
)

PATTERNS: tuple[Pattern, ...] = (
    *health.PATTERNS,
    *identity.PATTERNS,
    *home.PATTERNS,
    *work.PATTERNS,
    *family.PATTERNS,
    *plans.PATTERNS,
    *hobbies.PATTERNS,
    *tastes.PATTERNS,
    *skills.PATTERNS,
    *possessions.PATTERNS,
    *events.PATTERNS,
    *identity.OTHERWISE,
)


def _by_verb() -> dict[str, tuple[Pattern, ...]]:
    index: dict[str, list[Pattern]] = {}
    for pattern in PATTERNS:
        for verb in pattern.verbs:
            index.setdefault(verb, []).append(pattern)
    return {verb: tuple(rows) for verb, rows in index.items()}


BY_VERB: Mapping[str, tuple[Pattern, ...]] = _by_verb()
BY_NAME: Mapping[str, Pattern] = {pattern.name: pattern for pattern in PATTERNS}
