"""Extract without a model: the plain statements of a turn, and a note of what else is worth keeping."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from apps.pipeline.core.enums import EntityType, Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import PLAIN, Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain import table
from apps.pipeline.extraction.plain.notes import LEAST_SCORE, note_of, sentence_scores
from apps.pipeline.extraction.plain.own_sentences import own_sentences, own_words, question_before
from apps.pipeline.language.speech_act import told_to_remember
from apps.pipeline.provenance.own_words import is_plain_talk, without_label

DEFAULT_SPEAKER = "User"
_ENTITIES = {"person": EntityType.PERSON, "place": EntityType.PLACE, "organisation": EntityType.ORGANISATION}
_NAMED = {"named person": EntityType.PERSON, "named animal": EntityType.ANIMAL}
_BETWEEN_ITEMS = re.compile(r",? (?:and|or) |, ")
_NO_LETTER = re.compile(r"[^a-zà-ÿ]+")
_ME, _MY, _YOUR = (re.compile(rf"(?i)\b{each}\b") for each in ("me", "my", "your"))
_POINTS = re.compile(r"(?i)\b(?:i|you|it|this|that|them|these|those|here|him|her|today|tonight|now)\b")


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
    matches = ((match, sentence) for sentence, told in zip(sentences, readings, strict=True) for match in told.matches)
    statements = (statements_of(match, turn=turn, speaker=speaker, evidence=each) for match, each in matches)
    for candidate in chain.from_iterable(statements):
        found.setdefault(candidate.content.casefold(), candidate)
    certain = [is_plain_talk(words, each) for each in sentences]
    for is_certain in (True, False):  # a note is wholly certain, or waits for review
        chosen = [score if is_certain is each else 0.0 for score, each in zip(scores, certain, strict=True)]
        if any(score >= LEAST_SCORE and not told.is_whole for score, told in zip(chosen, readings, strict=True)):
            reliability = policy.pattern_reliability
            note = note_of(turn, sentences, chosen, question=question, speaker=speaker, reliability=reliability)
            found.setdefault(note.content.casefold(), note)
    return tuple(found.values())


def statements_of(match: table.RowMatch, *, turn: SourceTurn, speaker: Mention, evidence: str) -> Iterator[Candidate]:
    """Yield the statements of a match; a list that the row splits makes one for each of its items."""
    row, told, name = match.row, match.group("object"), match.group("name")
    relative = match.group("relative").lower()
    if row.object == "wish":
        if _POINTS.search(told):
            return
        mine = _MY.sub(lambda _: f"{speaker.text}'s", _ME.sub(lambda _: speaker.text, told))
        told = _YOUR.sub("the assistant's", mine[:1].lower() + mine[1:])  # as others would tell it
    predicate = row.predicate.format(relative=_NO_LETTER.sub("_", relative))
    subject, shown = speaker, speaker.text  # and how the sentence calls it
    if kind := _NAMED.get(row.subject):
        subject, shown = Mention(text=name, type=kind), name
    elif row.subject == "relative":
        described = f"{speaker.text}'s {relative}"
        subject = Mention(text=name or described, type=EntityType.PERSON)
        shown = f"{name}, {described}," if name else described
    for item in _BETWEEN_ITEMS.split(told) if row.splits else (told,):
        if row.subject in _NAMED:
            value = ObjectValue(entity=speaker)
        elif kind := _ENTITIES.get(row.object):
            value = ObjectValue(entity=Mention(text=item, type=kind))
        else:
            value = ObjectValue(literal=item)
        yield Candidate(
            index=0,
            type=row.type,
            subject=subject,
            predicate=predicate,
            object=value,
            content=row.says.format(
                subject=shown,
                object=value.text,
                a_object=f"{'an' if value.text[:1].lower() in 'aeiou' else 'a'} {value.text}",
                relative=relative,
                verb=match.group("verb").lower(),
            ),
            polarity=row.polarity,
            stateful=is_stateful(predicate),
            importance=row.importance,
            topic=row.topic,
            tags=row.tags,
            source_turn_ids=(turn.id,),
            evidence=evidence,
            reliability=row.confidence,
            extractor=f"{PLAIN}{row.id}",
        )
