"""Grounding: whether a sentence is based on its turn, by the words that they share."""

from collections.abc import Iterable

from apps.pipeline.core.enums import EntityType
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.word_stems import stems

_GENERAL = " ".join(("user", "assistant", *EntityType))  # "Priya is a person" says nothing but her name


def follows(content: str, *, quote: str, said: Iterable[str], subject: str) -> bool:
    """Return True if a sentence shares a word with its quote or all that was said, apart from its subject.

    Only English turns are compared, because the sentence is in English whatever the language of the turn.
    """
    own = stems(content) - stems(f"{subject} {_GENERAL}")
    if not own or own & stems(quote):
        return True  # most do: what was said has to be read no further
    texts = tuple(said)
    return not all(map(is_english, texts)) or bool(own & stems(" ".join(texts)))
