"""The words in which two statements differ."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_WORDS = 400  # of a text that is compared; comparing takes quadratic time
_PIECE = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A part of a text; `differs` if the other text has something else in its place."""

    text: str
    differs: bool


def compared_texts(one: str, other: str) -> tuple[tuple[ComparedText, ...], tuple[ComparedText, ...]]:
    """Split two texts into parts that they share and parts in which they differ; case makes no difference.

    Long texts are returned whole, without differences.
    """
    pieces, others = _PIECE.findall(one), _PIECE.findall(other)
    if max(len(pieces), len(others)) > 2 * MOST_WORDS:
        return (ComparedText(one, False),), (ComparedText(other, False),)
    folded = [piece.casefold() for piece in pieces], [piece.casefold() for piece in others]
    steps = SequenceMatcher(None, folded[0], folded[1], autojunk=False).get_opcodes()
    mine = tuple(_parts((pieces[start:end], kind != "equal") for kind, start, end, _, _ in steps))
    theirs = tuple(_parts((others[start:end], kind != "equal") for kind, _, _, start, end in steps))
    return mine, theirs


def _parts(runs: Iterator[tuple[list[str], bool]]) -> Iterator[ComparedText]:
    """Yield runs of pieces as texts; white space between two words that differ belongs to them."""
    joined: list[tuple[str, bool]] = []
    for pieces, differs in runs:
        text = "".join(pieces)
        if not text:
            continue
        if not differs and text.isspace() and joined and joined[-1][1]:
            differs = True
        if joined and joined[-1][1] == differs:
            joined[-1] = (joined[-1][0] + text, differs)
        else:
            joined.append((text, differs))
    for text, differs in joined:
        bare = text.rstrip()
        if differs and bare != text:
            yield ComparedText(bare, differs=bool(bare))
            yield ComparedText(text[len(bare) :], differs=False)
        else:
            yield ComparedText(text, differs)
