"""Retractions: words that replace a value by another one: "Neovim, not Vim", "Lyon instead of Paris"."""

import re
from collections.abc import Iterator

from apps.pipeline.core.canonical import canonical_text

_INSTEAD = re.compile(r"\s*,?\s+(?:and |but )?(?:not|instead of)\s+", re.IGNORECASE)
# In "we switched from Jenkins to Actions" the old value comes first, in "Lyon instead of Paris" the new one.
_FROM_TO = re.compile(
    r"\b(?:(?:switched|migrated|moved|changed|converted|upgraded|transitioned)\b[^,;:.!?]{0,20}?"
    r" from (?P<wrong>[^,;:.!?]{1,40}?) to"
    r"|(?:replaced|swapped) (?P<former>[^,;:.!?]{1,40}?) (?:with|by|for)) (?P<right>[^,;:.!?]{1,40})",
    re.IGNORECASE,
)
# Words between a value and "not": "we use uv now, not Poetry".
_ADVERBS = frozenset("now instead today actually again nowadays".split())
_ARTICLE = re.compile(r"^(?:the|an?) ")
_MOST_WORDS = 4  # of a value


def corrects(quote: str) -> bool:
    """Return True if a quote may contain a retraction."""
    return any(each.search(quote) is not None for each in (_INSTEAD, _FROM_TO))


def takes_back(quote: str, *, value: str, former: str) -> bool:
    """Return True if a quote replaces a former value, which differs only in the retracted words."""
    told, wanted = f" {canonical_text(value)} ", f" {canonical_text(former)} "
    return any(
        f" {right} " in told and told.replace(f" {right} ", f" {wrong} ") == wanted
        for right, wrong in _replacements(quote)
    )


def _replacements(quote: str) -> Iterator[tuple[str, str]]:
    """Yield possible pairs of new and old words: up to four words before "not", and up to four after it."""
    for found in _INSTEAD.finditer(quote):
        said = canonical_text(quote[: found.start()]).split()
        while said and said[-1] in _ADVERBS:
            said.pop()
        said = said[-_MOST_WORDS:]
        denied = canonical_text(quote[found.end() :]).split()[:_MOST_WORDS]
        for start in range(len(said)):
            for end in range(1, len(denied) + 1):
                right, wrong = " ".join(said[start:]), " ".join(denied[:end])
                yield right, wrong
                yield right, _ARTICLE.sub("", wrong)
    for found in _FROM_TO.finditer(quote):
        former = canonical_text(found["wrong"] or found["former"])
        told = canonical_text(found["right"]).split()[:_MOST_WORDS]
        yield from ((" ".join(told[:end]), former) for end in range(1, len(told) + 1))
