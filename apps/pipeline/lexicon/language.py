"""Language: whether a text is in English, the only language in which sentences are compared by words."""

import re
from functools import lru_cache

from apps.pipeline.lexicon.tables import read_table
from apps.pipeline.lexicon.word_stems import SYNONYMS, root

_TABLE = {name: frozenset(words.split()) for name, words in read_table("languages").items()}
_ENGLISH, _OTHERS = _TABLE["english"], _TABLE["others"] - _TABLE["english"]
NEGATIONS, WITHOUT = _TABLE["negations"], _TABLE["without"]

_WORD = re.compile(r"[^\W\d_]+")
_LAST_LATIN = "\u024f"


@lru_cache(maxsize=4_096)
def is_english(text: str) -> bool:
    """Return False if a text has more words of other languages than English ones, or is in another script.

    Capitalised words are ignored because they may be names. A text without known words counts as English.
    """
    words = _WORD.findall(text)
    if 2 * sum(word[0] > _LAST_LATIN for word in words) > len(words):
        return False
    lower = [word for word in words if word.islower()]
    others = sum(word in _OTHERS for word in lower)
    return others <= sum(word in _ENGLISH or root(word) in SYNONYMS for word in lower if word not in _OTHERS)
