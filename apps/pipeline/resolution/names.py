"""Names: which spellings are one name, and which names are close enough to be one."""

import re
import unicodedata
from collections.abc import Iterable

from rapidfuzz import fuzz

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.policy import ResolutionPolicy
from apps.pipeline.resolution.descriptions import is_description

_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|el|la|le|les|il)\s+")
_LEGAL_FORM = re.compile(r"[\s,]+(?:inc|ltd|llc|plc|corp|co|gmbh|ag|kg|s\.?a|b\.?v|oy|ab)\.?$")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "'"})
_DIGITS = re.compile(r"\d+")
_SHORT = 8  # a shorter single word must be equal: it has too few letters to tell a typing error from another name


def fold_name(name: str) -> str:
    """Fold case, accents, width, white space, a leading article and a legal form: "The Café GmbH" becomes "cafe"."""
    plain = unicodedata.normalize("NFKD", name.translate(_APOSTROPHES)).casefold()
    unaccented = "".join(each for each in plain if not unicodedata.combining(each))
    spaced = " ".join(unaccented.split()).strip(" .,;:!?\"'")
    return _LEGAL_FORM.sub("", _ARTICLE.sub("", spaced)) or spaced


def by_first_name(name: str, *, among: Iterable[KnownEntity]) -> KnownEntity | None:
    """Return the only person whose full name begins with this one word, or None."""
    word = fold_name(name)
    if not word or " " in word:
        return None
    people = (entity for entity in among if entity.type is EntityType.PERSON)
    found = [each for each in people if any(fold_name(own).startswith(f"{word} ") for own in _own_names(each))]
    return found[0] if len(found) == 1 else None


def closest(name: str, *, among: Iterable[KnownEntity], policy: ResolutionPolicy) -> KnownEntity | None:
    """Return the entity whose spelling is close enough and clearly closer than any other's, or None."""
    scored = sorted(((_score(name, entity), entity) for entity in among), key=lambda each: -each[0])
    if not scored or scored[0][0] < policy.fuzzy_accept:
        return None
    runner_up = scored[1][0] if len(scored) > 1 else 0.0
    return scored[0][1] if scored[0][0] - runner_up >= policy.fuzzy_margin else None


def _score(name: str, entity: KnownEntity) -> float:
    folded = fold_name(name)
    spellings = map(fold_name, _own_names(entity))
    alike = (fuzz.ratio(folded, each) for each in spellings if _comparable(folded, each, kind=entity.type))
    return max(alike, default=0.0)


def _own_names(entity: KnownEntity) -> list[str]:
    return [spelling for spelling in (entity.name, *entity.aliases) if not is_description(spelling)]


def _comparable(one: str, two: str, *, kind: EntityType) -> bool:
    """Return False if similarity proves nothing: Sam and Samantha, Daniel and Daniela, Model 3 and Model 4.

    Joining two people is worse than splitting one.
    """
    words, others = one.split(), two.split()
    if not words or len(words) != len(others) or _DIGITS.findall(one) != _DIGITS.findall(two):
        return False
    if kind is EntityType.PERSON:
        return len(words) > 1 and words[0] == others[0]
    return len(words) > 1 or min(len(one), len(two)) >= _SHORT
