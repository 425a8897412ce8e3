"""Read a clause: medicines, values, attributes, relations, typed patterns, and else free words."""

import re
from collections.abc import Iterator
from dataclasses import replace

from apps.pipeline.core.enums import EntityType, Polarity, SpeechAct
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.extraction.patterns import task_noise, third_person
from apps.pipeline.extraction.patterns.attributes import attribute_in
from apps.pipeline.extraction.patterns.candidate_builder import (
    SentenceContext,
    build_candidate,
    compared,
    employer_too,
    spoken,
    typed,
)
from apps.pipeline.extraction.patterns.catalogue import BY_NAME, BY_VERB
from apps.pipeline.extraction.patterns.changing_values import ChangingValue, changing_value_in
from apps.pipeline.extraction.patterns.clause import ParsedClause
from apps.pipeline.extraction.patterns.clause_parser import parse
from apps.pipeline.extraction.patterns.current_values import CurrentValue, current_value_in
from apps.pipeline.extraction.patterns.dated_events import dated_event_in, tails_of
from apps.pipeline.extraction.patterns.general_statements import free_phrase, general_row
from apps.pipeline.extraction.patterns.importance_phrases import value_in
from apps.pipeline.extraction.patterns.pattern import Pattern, PatternMatch
from apps.pipeline.extraction.patterns.recoveries import Recovery, recovery_in
from apps.pipeline.extraction.patterns.regimen import regimen_in
from apps.pipeline.extraction.patterns.regular_times import regular_time_in
from apps.pipeline.extraction.patterns.relation_statements import (
    relation_in,
)
from apps.pipeline.extraction.patterns.replacements import replacements_in
from apps.pipeline.extraction.patterns.third_parties import third_party_in
from apps.pipeline.lexicon import verbs

# Types of things that the next sentence may call "it".
_ABOUT_THINGS = frozenset("likes interested_in values does plays learning collects consumes uses prefers".split())
_REGULARLY = re.compile(r"\b(?:every|each|daily|once|twice|times|\w+days)\b")
_MORE = re.compile(r", (?![€$£]?\d[\d.,]* ?(?:\w+ )?(?:a|per|each)\b)")  # what is behind a comma, other than its price
_FIRST_PERSON = re.compile(r"\b(?:I|i|[Mm]y|me)\b")
_DIGIT = re.compile(r"\d")
_NOT_LETTERS = re.compile(r"[^a-z]")


def thing_of(candidate: Candidate) -> str:
    """Return what a statement is about, where the next one may call it "it"."""
    text = candidate.object.text
    is_thing = candidate.predicate in _ABOUT_THINGS and candidate.polarity is Polarity.POSITIVE
    return text if is_thing and len(text.split()) <= 4 else ""


def of_clause(clause: str, *, said: SentenceContext, before: str) -> Iterator[Candidate]:
    """Yield the statements of a clause; without a pattern only those with a dose or a day."""
    medicines = tuple(_medicines_in(clause, said)) if said.speech_act is SpeechAct.ASSERTED else ()
    event = dated_event_in(clause, name=said.speaker.text) if said.speech_act is SpeechAct.ASSERTED else None
    is_certain = len(medicines) > 1 or (event is not None and event.is_single)
    found = medicines if is_certain else tuple(_known_in(clause, said, before)) or medicines
    found = _with_doses(found, medicines)
    if event is None and said.speech_act is SpeechAct.ASSERTED and not said.is_translated:
        found = tuple(_of_third_party(clause, said)) or found
    yield from found
    is_plain = said.speech_act is SpeechAct.ASSERTED and not said.is_translated
    for tail in tails_of(clause)[1:] if is_plain else ():
        if told := _value_of(tail, said):
            yield from _plain(said, told.row, ObjectValue(literal=told.value), told.content)
    if event is not None and not found:
        subject = said.speaker if event.is_owned else _owner_or_thing(event.subject)
        value = ObjectValue(literal=event.value)
        yield build_candidate(said, subject=subject, row=event.row, value=value, content=event.content)


def _with_doses(found: tuple[Candidate, ...], medicines: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Prefer the statement that tells the dose of a medicine: "I take levothyroxine, 75 micrograms"."""
    doses = {each.object.text: each for each in medicines if _DIGIT.search(each.content)}
    return (
        tuple(
            doses.get(each.object.text, each)
            if each.predicate == "takes_medication"
            and each.polarity is Polarity.POSITIVE
            and not _DIGIT.search(each.content)
            else each
            for each in found
            if each.predicate != "routine" or not any(dose in each.content.lower() for dose in doses)
        )
        or medicines
    )


def _of_third_party(clause: str, said: SentenceContext) -> Iterator[Candidate]:
    told = third_party_in(clause, name=said.speaker.text)
    if told is not None:
        subject = _owner_or_thing(told.subject)
        value = ObjectValue(literal=told.value)
        yield build_candidate(said, subject=subject, row=told.row, value=value, content=told.content)


def _owner_or_thing(text: str) -> Mention:
    """Return the owner in the name of a thing, if there is one: "Ida's test" is about Ida."""
    owner = text.rpartition("'s ")[0]
    return Mention(text=owner, type=EntityType.PERSON) if owner else Mention(text=text)


def _medicines_in(clause: str, said: SentenceContext) -> Iterator[Candidate]:
    name = said.speaker.text
    # Of people who talk to each other, a list without "I" may answer a question about somebody else.
    if said.turn.speaker and not _FIRST_PERSON.search(said.evidence):
        return
    for each in regimen_in(clause, name=name):
        value = ObjectValue(literal=each.value)
        yield build_candidate(said, subject=said.speaker, row=each.row, value=value, content=each.content)


def _known_in(clause: str, said: SentenceContext, before: str) -> Iterator[Candidate]:
    name = said.speaker.text
    if replaced := replacements_in(clause, speaker=said.speaker):
        for each in replaced:
            value = ObjectValue(literal=each.value)
            yield build_candidate(
                said, subject=each.subject, row=each.row, value=value, content=each.content, is_negated=each.is_negated
            )
    elif told := _value_of(clause, said):
        value = ObjectValue(literal=told.value)
        yield from _plain(
            said, told.row, value, told.content, is_negated=isinstance(told, Recovery) and told.is_negated
        )
    elif (attribute := attribute_in(clause, name=name)) and (
        attribute.is_known or attribute.names_someone or not said.is_translated
    ):
        value = ObjectValue(literal=compared(attribute.value, owner=name))
        yield from _plain(said, attribute.row, value, attribute.content, is_negated=attribute.is_negated)
    elif not said.is_translated and (
        worth := value_in(clause, name=name, before=before, to_assistant=not said.turn.speaker)
    ):
        yield from _plain(said, worth.row, ObjectValue(literal=worth.thing), worth.content)
    elif statement := parse(clause, speaker=name):
        yield from _of_statement(statement, said)
    elif not said.is_translated and (regular := regular_time_in(clause, name=name)):
        yield from _plain(said, regular.row, ObjectValue(literal=regular.value), regular.content)


def _value_of(clause: str, said: SentenceContext) -> CurrentValue | Recovery | ChangingValue | None:
    """Read what something is set to now, or that something is over."""
    name = said.speaker.text
    current = current_value_in(clause, name=name) or recovery_in(clause, name=name)
    return current or changing_value_in(clause, name=name)


def _plain(
    said: SentenceContext, row: Pattern, value: ObjectValue, content: str, *, is_negated: bool = False
) -> Iterator[Candidate]:
    if not third_person.addresses_someone(content, name=said.speaker.text):
        yield build_candidate(said, subject=said.speaker, row=row, value=value, content=content, is_negated=is_negated)


def _of_statement(statement: ParsedClause, said: SentenceContext) -> Iterator[Candidate]:
    if task_noise.is_step_or_state(statement.phrase):
        return
    tie, is_all = relation_in(statement, speaker=said.speaker)
    if tie is not None:
        yield build_candidate(said, subject=tie.subject, row=tie.row, value=tie.object, content=tie.content)
    if is_all:
        return
    rows = tuple(_matching(statement))
    for row, match in rows:
        if said.is_translated and row.name == "routine" and not _REGULARLY.search(statement.phrase):
            continue  # "am 3. Juni hab ich Zahnarzt" happens once
        if found := typed(statement, row, match, said=said):
            yield found
            yield from employer_too(statement, found, BY_NAME["works_at"])
            return
    if not rows and said.speech_act is SpeechAct.ASSERTED and not said.is_translated:
        yield from _in_free_words(statement, said)


def _matching(statement: ParsedClause) -> Iterator[tuple[Pattern, PatternMatch]]:
    """Yield the typed rows that match; one that matches and then refuses its object keeps free words out as well."""
    for row in BY_VERB.get(statement.verb.lower(), ()):
        if row.may_speak_of(about_speaker=statement.about_speaker, is_negated=statement.is_negated):
            match = row.compiled.match(statement.phrase)
            if match is not None:
                yield row, match


def _in_free_words(statement: ParsedClause, said: SentenceContext) -> Iterator[Candidate]:
    to_assistant = not said.turn.speaker
    if to_assistant:
        statement = replace(statement, phrase=_MORE.split(statement.phrase, maxsplit=1)[0])
    row = general_row(statement, name=said.speaker.text, to_assistant=to_assistant)
    phrase = free_phrase(statement.phrase, least=1 if statement.is_negated and to_assistant else 0) if row else ""
    if row is None or not phrase:
        return
    value = ObjectValue(literal=compared(phrase.partition(" ")[2], owner=said.speaker.text))
    found = spoken(statement, row.evolved(predicate=_predicate(phrase)), value, phrase, said=said)
    if found is not None:
        yield found


def _predicate(phrase: str) -> str:
    """Name a predicate after the verb: "went to Rome" → go, "is working on" → is_working."""
    head, _, rest = phrase.lower().partition(" ")
    word = _NOT_LETTERS.sub("", head)
    if word not in ("is", "was", "has"):
        return verbs.base_form(word) or "did"
    following = _NOT_LETTERS.sub("", rest.partition(" ")[0])
    return f"{word}_{following}" if following else word
