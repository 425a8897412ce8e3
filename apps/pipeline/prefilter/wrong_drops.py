"""Whether a turn that a rule dropped has proved to be worth keeping."""

from apps.pipeline.core.canonical import canonical_text

_LEAST_WORDS = 3  # fewer stand in too many quotes


def says_again(dropped: str, quote: str) -> bool:
    """Return True if the quote of a later memory has the words of a dropped turn, one after the other."""
    words, quoted = canonical_text(dropped), canonical_text(quote)
    if not words:
        return False
    return words == quoted or (len(words.split()) >= _LEAST_WORDS and f" {words} " in f" {quoted} ")
