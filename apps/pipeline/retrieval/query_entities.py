"""Naming: what of a query may be the name of someone, and what is left of it without."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from apps.pipeline.core.canonical import canonical_text

_MAX_NAME_WORDS = 4
_MINE = frozenset({"my", "our", "mein", "meine", "meiner", "mon", "ma", "mes", "mi", "mis"})
_I = frozenset({"i", "me", "mine", "myself", "we", "us", "ich", "mir", "mich", "je", "moi", "yo"})
_WORD = re.compile(r"\w+")
# How a predicate may begin before the word that people ask with: "manager" for has_manager.
_PREDICATE_OPENINGS = ("", "has_", "is_")
_POSSESSIVE = "s"  # what canonical text leaves of "Lena's"


@dataclass(frozen=True, slots=True)
class Names:
    """What a query may name: folded aliases, predicates that lead to or from another entity, the end user."""

    phrases: tuple[str, ...]
    predicates: tuple[str, ...]  # from one to another: has_manager
    inverses: tuple[str, ...]  # from another to one: sister_of
    says_i: bool  # the end user is spoken of
    says_my: bool  # the end user leads to whom is spoken of


def names_in(text: str) -> Names:
    """Read every run of up to four words as a name; "my manager" is also "User's manager", as the funnel keeps it."""
    words = canonical_text(text).split()
    runs = tuple(dict.fromkeys(_runs(words)))
    own = (" ".join(("user s", *run[1:])) for run in runs if run[0] in _MINE and len(run) > 1)
    relations = ("_".join(run) for run in runs if len(run) <= 2)
    owned = (run[1:] for run in runs if run[0] in _MINE | {_POSSESSIVE} and 1 < len(run) <= 3)
    held = dict.fromkeys(noun for run in owned for noun in ("_".join(run), run[-1]))  # a best friend is a friend
    return Names(
        phrases=tuple(dict.fromkeys((*(" ".join(run) for run in runs), *own))),
        predicates=tuple(opening + each for each in relations for opening in _PREDICATE_OPENINGS),
        inverses=tuple(f"{one}_of" for each in held for one in (each, each.removesuffix("s"))),
        says_i=not _I.isdisjoint(words),
        says_my=not _MINE.isdisjoint(words),
    )


def without_names(text: str) -> str:
    """Leave out what is written like a name, for the vector alone; the whole text where hardly anything is left.

    The vector of a name is close to every memory that holds it and drowns what is asked about it (on LoCoMo recall@10
    by vectors alone is 0.33 with names and 0.56 without); words and entities find names better.
    """
    words = _WORD.findall(text)
    kept = [word for place, word in enumerate(words) if place == 0 or not word[0].isupper()]
    return " ".join(kept) if len(kept) > 1 else text


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    for start in range(len(words)):
        for length in range(1, min(_MAX_NAME_WORDS, len(words) - start) + 1):
            yield tuple(words[start : start + length])
