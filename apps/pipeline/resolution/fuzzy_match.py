"""Fuzzy matching of names; strict, because joining two people is worse than splitting one."""

import re
from collections.abc import Iterable

from rapidfuzz import fuzz

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.policy import ResolutionPolicy
from apps.pipeline.resolution.grammar import is_description
from apps.pipeline.resolution.name_folding import fold_name

_DIGITS = re.compile(r"\d+")
_SHORT = 8  # a shorter single word must be equal: it has too few letters to tell a typing error from another name


def closest(*, name: str, among: Iterable[KnownEntity], policy: ResolutionPolicy) -> KnownEntity | None:
    """Return the entity whose spelling is close enough and clearly closer than any other's, or None."""
    scored = sorted(((_score(name, entity), entity) for entity in among), key=lambda each: -each[0])
    if not scored or scored[0][0] < policy.fuzzy_accept:
        return None
    runner_up = scored[1][0] if len(scored) > 1 else 0.0
    return scored[0][1] if scored[0][0] - runner_up >= policy.fuzzy_margin else None


def _score(name: str, entity: KnownEntity) -> float:
    spellings = {spelling for spelling in (entity.name, *entity.aliases) if not is_description(spelling)}
    return max((_similarity(name, spelling, entity.type) for spelling in spellings), default=0.0)


def _similarity(name: str, spelling: str, kind: EntityType) -> float:
    one, two = fold_name(name), fold_name(spelling)
    if not _comparable(one.split(), two.split(), kind):
        return 0.0
    return fuzz.ratio(one, two)


def _comparable(one: list[str], two: list[str], kind: EntityType) -> bool:
    """Return False if similarity proves nothing: Sam and Samantha, Daniel and Daniela, Model 3 and Model 4."""
    if not one or len(one) != len(two) or _numbers(one) != _numbers(two):
        return False
    if len(one) == 1:
        return kind is not EntityType.PERSON and min(len(one[0]), len(two[0])) >= _SHORT
    return kind is not EntityType.PERSON or one[0] == two[0]


def _numbers(words: list[str]) -> list[str]:
    return _DIGITS.findall(" ".join(words))


def by_first_name(*, name: str, among: Iterable[KnownEntity]) -> KnownEntity | None:
    """Return the only person whose full name begins with this one word, or None."""
    word = fold_name(name)
    if not word or " " in word:
        return None
    found = [entity for entity in among if entity.type is EntityType.PERSON and _begins(entity, word)]
    return found[0] if len(found) == 1 else None


def _begins(entity: KnownEntity, word: str) -> bool:
    return any(
        fold_name(spelling).startswith(f"{word} ")
        for spelling in (entity.name, *entity.aliases)
        if not is_description(spelling)
    )
