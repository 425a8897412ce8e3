"""Corrections: words that put one value in the place of another: "Neovim, not Vim", "Lyon instead of Paris"."""

import re
from collections.abc import Iterator

from apps.pipeline.core.canonical import canonical_text

_INSTEAD = re.compile(r"\s*,?\s+(?:and |but )?(?:not|instead of)\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|an?) ")
_MOST_WORDS = 4  # of a value


def corrects(quote: str) -> bool:
    """Tell whether a quote may take something back."""
    return _INSTEAD.search(quote) is not None


def takes_back(quote: str, *, value: str, former: str) -> bool:
    """Tell whether a quote puts a value in the place of a former one, which differs in what it takes back alone."""
    told, wanted = f" {canonical_text(value)} ", f" {canonical_text(former)} "
    return any(
        f" {right} " in told and told.replace(f" {right} ", f" {wrong} ") == wanted
        for right, wrong in _replacements(quote)
    )


def _replacements(quote: str) -> Iterator[tuple[str, str]]:
    """Yield what may stand for what: up to four words before "not", and up to four after it."""
    for found in _INSTEAD.finditer(quote):
        said = canonical_text(quote[: found.start()]).split()[-_MOST_WORDS:]
        denied = canonical_text(quote[found.end() :]).split()[:_MOST_WORDS]
        for start in range(len(said)):
            for end in range(1, len(denied) + 1):
                right, wrong = " ".join(said[start:]), " ".join(denied[:end])
                yield right, wrong
                yield right, _ARTICLE.sub("", wrong)
