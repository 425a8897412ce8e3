"""Grounding: whether a sentence is based on its turn, by the words that they share."""

from collections.abc import Iterable

from apps.pipeline.core.enums import EntityType
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.provenance.word_stems import stems

_GENERAL = " ".join(("user", "assistant", *EntityType))  # "Priya is a person" says nothing but her name


def follows(content: str, *, said: Iterable[str], subject: str) -> bool:
    """Return True if a sentence shares a word with its turn, apart from its subject.

    Only English turns are compared, because the sentence is in English whatever the language of the turn.
    """
    texts = tuple(said)
    if not all(map(is_english, texts)):
        return True
    own = stems(content) - stems(f"{subject} {_GENERAL}")
    return not own or bool(own & stems(" ".join(texts)))
