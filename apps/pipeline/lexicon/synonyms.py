"""Synonyms: English words that can be exchanged without changing the meaning of a memory."""

from apps.pipeline.lexicon.tables import read_table
from apps.pipeline.lexicon.verbs import root


def _read() -> dict[str, str]:
    """Map the root of each word to the first root of its line; a word of two lines belongs to the first."""
    found: dict[str, str] = {}
    for line in read_table("synonyms")["meanings"].strip().splitlines():
        roots = [root(word) for word in line.split()]
        meaning = found.get(roots[0], roots[0])
        for each in roots:
            found.setdefault(each, meaning)
    return found


SYNONYMS: dict[str, str] = _read()
