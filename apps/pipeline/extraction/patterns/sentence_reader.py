"""Read a sentence: standing rules, who is named, lists, other languages, and else its clauses."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from apps.pipeline.core.enums import EntityType, SpeechAct
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.extraction.patterns import relatives, sentences
from apps.pipeline.extraction.patterns.antecedents import Antecedent
from apps.pipeline.extraction.patterns.attributes import NAME
from apps.pipeline.extraction.patterns.candidate_builder import (
    SentenceContext,
    build_candidate,
)
from apps.pipeline.extraction.patterns.clause_reader import of_clause, thing_of
from apps.pipeline.extraction.patterns.foreign_appointments import appointment_in
from apps.pipeline.extraction.patterns.foreign_statements import foreign_statements_in, foreign_ties_in
from apps.pipeline.extraction.patterns.lists import allergies_in, family_in, stack_in
from apps.pipeline.extraction.patterns.naming import is_called, named_in_place
from apps.pipeline.extraction.patterns.openers import clause_words, with_child_named
from apps.pipeline.extraction.patterns.regimen import refused_in, with_medicine
from apps.pipeline.extraction.patterns.relation_statements import (
    RelationStatement,
    introduced_in,
    without_asides,
)
from apps.pipeline.extraction.patterns.self_correction import misnomer_in
from apps.pipeline.extraction.patterns.speech_act import (
    is_unreal,
)
from apps.pipeline.extraction.patterns.standing_rules import rule_in, rules_in
from apps.pipeline.extraction.patterns.translation import translated
from apps.pipeline.lexicon.calendar import NAMES
from apps.pipeline.lexicon.tables import alternation
from apps.pipeline.lexicon.translation import may_be_foreign

_SOMEBODY_NAMED = re.compile(rf"(?<=[\w,] )(?!(?:I|{alternation(map(str.capitalize, NAMES))})\b)[A-ZÀ-Þ][a-zà-ÿ]+")
_APPOINTMENT = "patterns:foreign_appointment"


def of_sentence(sentence: sentences.Sentence, *, said: SentenceContext, before: str) -> Iterator[Candidate]:
    """Yield the candidates of a sentence; `before` is the thing that the one before was about."""
    rules = rules_in(sentence.text, name=said.speaker.text, asks=sentence.asks)
    for rule in rules:
        value = ObjectValue(literal=rule.value)
        yield build_candidate(said, subject=said.speaker, row=rule.row, value=value, content=rule.content)
    if rules:
        # The first clause is the rule, unless that is a name to be called by: "My name is Rebecca, but call me Bex".
        told = sentences.clauses_of(sentence)
        for clause in told if rules[0].is_nickname else told[1:]:
            yield from of_clause(clause_words(clause), said=said, before=before)
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
            for candidate in of_clause(clause_words(clause), said=said, before=before):
                before = thing_of(candidate)
                yield candidate


def _with_names(clauses: Iterable[str]) -> Iterator[str]:
    antecedent = Antecedent()
    before = ""
    are_named = False
    for clause in clauses:
        named = antecedent.put_into(clause)
        # After others in the same sentence, nobody can say whom an open pronoun means.
        if not (are_named and antecedent.refers(named)):
            yield with_medicine(named, before=before)
        are_named = are_named or _SOMEBODY_NAMED.search(clause) is not None
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
        yield from listed or of_clause(clause, said=said, before=before)


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
