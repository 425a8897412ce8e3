"""The sentences of a turn in its speaker's own words, and the question that they answer."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

import re2

from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.language.sentence_boundaries import sentence_ends
from apps.pipeline.provenance.own_words import HIDDEN, TurnWords, read_words, words_of

GAP = "…"  # stands where others' words were; quotes are compared in the parts between such signs
MOST_SENTENCES = 50
MOST_QUESTION_CHARACTERS = 160
_WORD = re2.compile(r"[\p{L}\p{N}]")
_GAPS = re2.compile(rf"(?:{GAP}\s*)+{GAP}")


def own_sentences(turn: SourceTurn, *, before: Sequence[SourceTurn], most: int) -> tuple[str, ...]:
    """Return the sentences that the speaker says as themselves, in the first `most` characters of a turn.

    Role play, quotations and pasted text are left out: `…` stands in their place.
    """
    return tuple(islice(_sentences_of(own_words(turn, before=before, most=most)), MOST_SENTENCES))


def own_words(turn: SourceTurn, *, before: Sequence[SourceTurn], most: int) -> TurnWords:
    """Return the words of the first `most` characters of a turn."""
    return words_of(replace(turn, content=turn.content[:most]), earlier=before)


def question_before(turn: SourceTurn, *, before: Sequence[SourceTurn]) -> str:
    """Return the question with which the assistant's message right before a turn ends; "" if it asks nothing."""
    spoken = [each for each in before if each.role in (Role.USER, Role.ASSISTANT)]
    if not spoken or spoken[-1].role is not Role.ASSISTANT:
        return ""
    said = spoken[-1].content[-4 * MOST_QUESTION_CHARACTERS :].rstrip()
    if not said.endswith("?"):
        return ""
    question = list(sentences_in(said))[-1:]
    return question[0] if question and GAP not in question[0] and len(question[0]) <= MOST_QUESTION_CHARACTERS else ""


def sentences_in(text: str) -> Iterator[str]:
    """Yield the sentences of a text in its author's own words; `…` stands in the place of others' words."""
    return _sentences_of(read_words(text))


def _sentences_of(words: TurnWords) -> Iterator[str]:
    prose = f" {GAP} ".join(words.segments())
    for start, end in pairwise((0, *sentence_ends(prose), len(prose))):
        sentence = _GAPS.sub(GAP, " ".join(prose[start:end].replace(HIDDEN, GAP).split()))
        if _WORD.search(sentence):
            yield sentence
