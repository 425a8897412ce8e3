"""Extract without a model: the plain statements of a turn, and a note of what else is worth keeping."""

from collections.abc import Iterator, Sequence

from apps.pipeline.core.enums import EntityType, Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain import table
from apps.pipeline.extraction.plain.notes import LEAST_SCORE, note_of, sentence_scores
from apps.pipeline.extraction.plain.own_sentences import own_sentences, own_words, question_before
from apps.pipeline.extraction.plain.statements import statements_of
from apps.pipeline.language.speech_act import told_to_remember
from apps.pipeline.provenance.own_words import is_plain_talk, without_label

DEFAULT_SPEAKER = "User"


def extract(*, turn: SourceTurn, policy: ExtractionPolicy, before: Sequence[SourceTurn] = ()) -> tuple[Candidate, ...]:
    """Return the candidates of one turn of a user, in order, each with index 0.

    `before` are the earlier turns of the session, oldest first: the last may ask what this turn answers. At most the
    first `policy.max_turn_characters` are read. A statement is returned once.
    """
    if turn.role is not Role.USER:
        return ()
    most = policy.max_turn_characters
    words, sentences = own_words(turn, before=before, most=most), own_sentences(turn, before=before, most=most)
    question = question_before(turn, before=before)
    speaker = Mention(text=" ".join(turn.speaker.split()) or DEFAULT_SPEAKER, type=EntityType.PERSON, is_speaker=True)
    scores = sentence_scores(sentences, question=question)
    # What is not meant has no score.
    readings = [
        table.read(told_to_remember(without_label(each))) if score else table.Reading()
        for each, score in zip(sentences, scores, strict=True)
    ]
    found: dict[str, Candidate] = {}
    for candidate in _statements(turn, sentences, readings, speaker=speaker):
        found.setdefault(candidate.content.casefold(), candidate)
    certain = [is_plain_talk(words, each) for each in sentences]
    for is_certain in (True, False):  # a note is wholly certain, or waits for review
        chosen = [score if is_certain is each else 0.0 for score, each in zip(scores, certain, strict=True)]
        if any(score >= LEAST_SCORE and not told.is_whole for score, told in zip(chosen, readings, strict=True)):
            reliability = policy.pattern_reliability
            note = note_of(turn, sentences, chosen, question=question, speaker=speaker, reliability=reliability)
            found.setdefault(note.content.casefold(), note)
    return tuple(found.values())


def _statements(
    turn: SourceTurn, sentences: Sequence[str], readings: Sequence[table.Reading], *, speaker: Mention
) -> Iterator[Candidate]:
    for sentence, reading in zip(sentences, readings, strict=True):
        for match in reading.matches:
            yield from statements_of(match, turn=turn, speaker=speaker, evidence=sentence)
