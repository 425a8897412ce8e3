"""Run the patterns over one turn: text → sentences → clauses → statements → candidates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from apps.pipeline.core.enums import EntityType, Polarity, SourceConfidence, SpeechAct
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.patterns import answers, relatives, sentences, task_noise, third_person
from apps.pipeline.extraction.patterns.antecedents import Antecedent
from apps.pipeline.extraction.patterns.attributes import NAME, attribute_in
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
from apps.pipeline.extraction.patterns.concreteness import is_concrete
from apps.pipeline.extraction.patterns.current_values import CurrentValue, current_value_in
from apps.pipeline.extraction.patterns.dated_events import dated_event_in, tails_of
from apps.pipeline.extraction.patterns.foreign_appointments import appointment_in
from apps.pipeline.extraction.patterns.foreign_statements import foreign_statements_in, foreign_ties_in
from apps.pipeline.extraction.patterns.general_statements import free_phrase, general_row
from apps.pipeline.extraction.patterns.importance_phrases import topic_of, value_in
from apps.pipeline.extraction.patterns.introductions import with_ties_inside
from apps.pipeline.extraction.patterns.lists import allergies_in, family_in, stack_in
from apps.pipeline.extraction.patterns.naming import is_called, named_in_place
from apps.pipeline.extraction.patterns.openers import clause_words, with_child_named
from apps.pipeline.extraction.patterns.pattern import Pattern, PatternMatch
from apps.pipeline.extraction.patterns.recoveries import Recovery, recovery_in
from apps.pipeline.extraction.patterns.regimen import refused_in, regimen_in, with_medicine
from apps.pipeline.extraction.patterns.regular_times import regular_time_in
from apps.pipeline.extraction.patterns.relation_statements import (
    RelationStatement,
    introduced_in,
    relation_in,
    without_asides,
)
from apps.pipeline.extraction.patterns.replacements import replacements_in
from apps.pipeline.extraction.patterns.self_correction import amended, misnomer_in
from apps.pipeline.extraction.patterns.speech_act import (
    asks_for_confirmation,
    goes_on_mocking,
    is_unreal,
    rolls_eyes,
    speech_act_of,
)
from apps.pipeline.extraction.patterns.standing_rules import rule_in
from apps.pipeline.extraction.patterns.third_parties import third_party_in
from apps.pipeline.extraction.patterns.translation import translated
from apps.pipeline.extraction.patterns.wholeness import is_whole
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.translation import may_be_foreign
from apps.pipeline.provenance.own_words import spoken_outside_scenes
from apps.pipeline.provenance.role_play import gives_a_role

DEFAULT_SPEAKER = "User"
# Messages of usual length have fewer sentences; longer ones are lists, or made to be slow.
_MOST_SENTENCES = 50
_SENTENCES_LOOKED_BACK = 40  # number of earlier sentences that a correction may refer to
# Types of things that the next sentence may call "it".
_ABOUT_THINGS = frozenset("likes interested_in values does plays learning collects consumes uses prefers".split())
_APPOINTMENT = "patterns:foreign_appointment"
_REGULARLY = re.compile(r"\b(?:every|each|daily|once|twice|times|\w+days)\b")
_MORE = re.compile(r", (?![€$£]?\d[\d.,]* ?(?:\w+ )?(?:a|per|each)\b)")  # what is behind a comma, other than its price
_FIRST_PERSON = re.compile(r"\b(?:I|i|[Mm]y|me)\b")
_NOT_LETTERS = re.compile(r"[^a-z]")


def extract(*, turn: SourceTurn, policy: ExtractionPolicy, before: Sequence[SourceTurn] = ()) -> tuple[Candidate, ...]:
    """Return the candidates that the patterns find in one turn, in order, each with index 0.

    `before` are the earlier turns of the session, oldest first: a correction may refer to the speaker's own, an answer
    to the assistant's question. At most the first `policy.max_turn_characters` are read. A statement is returned once.
    """
    found: dict[str, Candidate] = {}
    name = _name(turn)
    for candidate in _candidates(turn, policy, before):
        if is_whole(candidate.content, name=name):
            found.setdefault(candidate.content.casefold(), candidate if turn.speaker else _weighed(candidate, name))
    return with_ties_inside(tuple(found.values()))


def _weighed(candidate: Candidate, name: str) -> Candidate:
    """Leave to a person what does not show by itself that it lasts."""
    if is_concrete(candidate, name=name):
        return candidate
    return candidate.evolve(source_confidence=SourceConfidence.SPECULATED)


def _name(turn: SourceTurn) -> str:
    return " ".join(turn.speaker.split()) or DEFAULT_SPEAKER


def _candidates(turn: SourceTurn, policy: ExtractionPolicy, before_it: Sequence[SourceTurn]) -> Iterator[Candidate]:
    name = _name(turn)
    speaker = Mention(text=name, type=EntityType.PERSON, is_speaker=True)
    earlier = [each for each in before_it if (each.role, each.speaker) == (turn.role, turn.speaker)]
    question = answers.question_before(before_it, turn=turn)
    before, antecedent = "", Antecedent()
    text = spoken_outside_scenes(turn, earlier=earlier, most=policy.max_turn_characters)
    if not turn.speaker and gives_a_role(text):
        return
    all_said = tuple(islice(_worth_reading(text), _MOST_SENTENCES))
    is_exercise = any(task_noise.asks_for_a_sum(each.text) for each in all_said)
    for place, sentence in enumerate(all_said):
        quote = sentence.text
        sentence = sentence.in_one_line()
        if place == 0 and (statement := answers.completed(sentence.text, question=question)):
            sentence = sentences.Sentence(text=statement, asks=False)
        said_before = islice(_looking_back(all_said[:place], earlier, policy), _SENTENCES_LOOKED_BACK)
        sentence = amended(sentence, earlier=said_before) or sentence
        speech_act, claim = speech_act_of(sentence.text)
        if task_noise.hands_over_a_text(sentence.text):
            return
        after = all_said[place + 1].text if place + 1 < len(all_said) else ""
        if rolls_eyes(after) or (place and goes_on_mocking(sentence.text, before=all_said[place - 1].text)):
            continue
        if (
            speech_act is None
            or asks_for_confirmation(sentence.text)
            or (is_exercise and task_noise.gives_a_number(sentence.text))
        ):
            continue
        said = SentenceContext(turn, speaker, quote, speech_act, policy.pattern_reliability, antecedent=antecedent)
        if claim != sentence.text:
            sentence = sentences.Sentence(text=claim.rstrip(" ?.!"), asks=False)
        named = replace(sentence, text=named_in_place(antecedent.put_into(sentence.text), after=after))
        found = tuple(_of_sentence(named, said, before))
        before = (_thing_of(found[-1]) if found else "") or topic_of(clause_words(sentence.text), name=name)
        antecedent = (
            antecedent.after(sentence.text) if antecedent.refers(sentence.text) else _introduced(found, sentence)
        )
        yield from found


def _introduced(found: Sequence[Candidate], sentence: sentences.Sentence) -> Antecedent:
    """Return whom the next sentence may mean: the only relative that is named, or the only person told about."""
    named = {each.subject.text for each in found if each.extractor.endswith("_of")}
    return Antecedent(named.pop()) if len(named) == 1 else Antecedent().after(sentence.text)


def _worth_reading(text: str) -> Iterator[sentences.Sentence]:
    """Yield each sentence once; single words are skipped, unless the first one answers a question."""
    said: set[str] = set()
    for place, sentence in enumerate(sentences.sentences_of(text)):
        is_more = " " in sentence.text or "\n" in sentence.text or place == 0
        if is_more and sentence.text not in said:
            said.add(sentence.text)
            yield sentence


def _looking_back(
    said: Sequence[sentences.Sentence], earlier: Sequence[SourceTurn], policy: ExtractionPolicy
) -> Iterator[sentences.Sentence]:
    """Yield the sentences before, in this turn and the earlier ones, latest first."""
    yield from reversed(said)
    for turn in reversed(earlier):
        yield from reversed(tuple(sentences.sentences_of(turn.content[: policy.max_turn_characters])))


def _of_sentence(sentence: sentences.Sentence, said: SentenceContext, before: str) -> Iterator[Candidate]:
    rule = rule_in(sentence.text, name=said.speaker.text, asks=sentence.asks)
    if rule is not None:
        value = ObjectValue(literal=rule.value)
        yield build_candidate(said, subject=said.speaker, row=rule.row, value=value, content=rule.content)
        for clause in sentences.clauses_of(sentence)[1:]:
            yield from _of_clause(clause_words(clause), said, before)
        return
    if misnomer := misnomer_in(sentence):
        wrong, right = Mention(text=misnomer.wrong, type=EntityType.PERSON), ObjectValue(literal=misnomer.right)
        yield build_candidate(
            said, subject=wrong, row=NAME, value=right, content=f"{misnomer.wrong}'s name is {misnomer.right}."
        )
        return
    yield from _told_in(sentence, said, before)


def _told_in(sentence: sentences.Sentence, said: SentenceContext, before: str) -> Iterator[Candidate]:
    """Yield who is named in a sentence, then what it lists, or else what its clauses say."""
    yield from _ties(with_child_named(sentence.text), said)
    if refused := refused_in(sentence.text, name=said.speaker.text):
        value = ObjectValue(literal=refused.value)
        yield build_candidate(
            said, subject=said.speaker, row=refused.row, value=value, content=refused.content, is_negated=True
        )
    elsewhere = tuple(_said_in_another_language(sentence.text, said, before))
    yield from elsewhere
    if any(each.extractor != _APPOINTMENT for each in elsewhere):
        return
    listed = () if sentence.asks else tuple(_listed(sentence.text, said))
    yield from listed
    plain = sentences.Sentence(text=without_asides(sentence.text), asks=sentence.asks)
    for clause in () if listed else _with_names(relatives.with_antecedents(sentences.clauses_of(plain))):
        if said.speech_act is not SpeechAct.ASSERTED or not is_unreal(clause):
            for candidate in _of_clause(clause_words(clause), said, before):
                before = _thing_of(candidate)
                yield candidate


def _with_names(clauses: Iterable[str]) -> Iterator[str]:
    antecedent = Antecedent()
    before = ""
    for clause in clauses:
        yield with_medicine(antecedent.put_into(clause), before=before)
        antecedent, before = antecedent.after(clause), clause


def _ties(sentence: str, said: SentenceContext) -> Iterator[Candidate]:
    for tie in introduced_in(sentence, speaker=said.speaker):
        yield build_candidate(said, subject=tie.subject, row=tie.row, value=tie.object, content=tie.content)


def _said_in_another_language(sentence: str, said: SentenceContext, before: str) -> Iterator[Candidate]:
    """Yield what the English of a sentence says, then what single phrases of its language say besides."""
    if said.speech_act is not SpeechAct.ASSERTED or not may_be_foreign(sentence):
        return
    translation = tuple(_translated(sentence, said, before))
    yield from translation
    known = {(each.predicate, each.polarity) for each in translation}
    is_dated = any(char.isdigit() for each in translation for char in each.content)
    for each in _in_set_phrases(sentence, said):
        if (each.predicate, each.polarity) not in known and not (is_dated and each.extractor == _APPOINTMENT):
            yield each


def _translated(sentence: str, said: SentenceContext, before: str) -> Iterator[Candidate]:
    said = replace(said, is_translated=True)
    clauses = tuple(relatives.with_antecedents(translated(sentence)))
    for place, told in enumerate(clauses, start=1):
        clause = named_in_place(said.antecedent.put_into(told), after=next(iter(clauses[place:]), ""))
        if is_called(clause):
            continue
        if rule := rule_in(clause, name=said.speaker.text):
            value = ObjectValue(literal=rule.value)
            yield build_candidate(said, subject=said.speaker, row=rule.row, value=value, content=rule.content)
            continue
        yield from _ties(clause, said)
        listed = tuple(_listed(clause, said))
        yield from listed or _of_clause(clause, said, before)


def _in_set_phrases(sentence: str, said: SentenceContext) -> Iterator[Candidate]:
    name = said.speaker.text
    if appointment := appointment_in(sentence, name=name):
        value = ObjectValue(literal=appointment.value)
        yield build_candidate(said, subject=said.speaker, row=appointment.row, value=value, content=appointment.content)
    for tie in foreign_ties_in(sentence, speaker=said.speaker):
        yield build_candidate(said, subject=tie.subject, row=tie.row, value=tie.object, content=tie.content)
    for each in foreign_statements_in(sentence, name=name):
        value = ObjectValue(literal=each.value)
        if each.row.entity is not None:
            value = ObjectValue(entity=Mention(text=each.value, type=each.row.entity))
        yield build_candidate(
            said, subject=said.speaker, row=each.row, value=value, content=each.content, is_negated=each.is_negated
        )


def _listed(sentence: str, said: SentenceContext) -> Iterator[Candidate]:
    """Yield the items of a list, each as its own memory."""
    words = clause_words(sentence)
    name = said.speaker.text
    for each in (*stack_in(words, name=name), *allergies_in(words, name=name)):
        yield build_candidate(
            said, subject=said.speaker, row=each.row, value=ObjectValue(literal=each.value), content=each.content
        )
    for member in family_in(words, speaker=said.speaker):
        if isinstance(member, RelationStatement):
            yield build_candidate(
                said, subject=member.subject, row=member.row, value=member.object, content=member.content
            )
        else:
            value = ObjectValue(literal=member.value)
            yield build_candidate(said, subject=said.speaker, row=member.row, value=value, content=member.content)


def _thing_of(candidate: Candidate) -> str:
    """Return what a statement is about, where the next one may call it "it"."""
    text = candidate.object.text
    is_thing = candidate.predicate in _ABOUT_THINGS and candidate.polarity is Polarity.POSITIVE
    return text if is_thing and len(text.split()) <= 4 else ""


def _of_clause(clause: str, said: SentenceContext, before: str) -> Iterator[Candidate]:
    """Yield the statements of a clause; without a pattern only those with a dose or a day."""
    medicines = tuple(_medicines_in(clause, said)) if said.speech_act is SpeechAct.ASSERTED else ()
    event = dated_event_in(clause, name=said.speaker.text) if said.speech_act is SpeechAct.ASSERTED else None
    is_certain = len(medicines) > 1 or (event is not None and event.is_single)
    found = medicines if is_certain else tuple(_known_in(clause, said, before)) or medicines
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
