"""How alike two spellings are."""

from difflib import SequenceMatcher

MOST_LETTERS = 100  # a longer text is only like itself: comparing two texts takes as long as their lengths' product


def similarity(one: str, other: str, *, least: float) -> float:
    """Return how alike two texts are, in percent of their letters (Ratcliff and Obershelp), or 0 below `least`."""
    if one == other:
        return 100.0
    if max(len(one), len(other)) > MOST_LETTERS:
        return 0.0
    compared = SequenceMatcher(None, one, other, autojunk=False)
    # The first two are upper bounds that cost little.
    for ratio in (compared.real_quick_ratio, compared.quick_ratio, compared.ratio):
        if (alike := 100 * ratio()) < least:
            return 0.0
    return alike
