"""Read a sentence for what it says of health, beside what the patterns of grammar have found in it."""

import re
from collections.abc import Iterator, Sequence

import re2

from apps.pipeline.core.enums import Polarity, SpeechAct
from apps.pipeline.core.statement import Candidate, ObjectValue
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.candidate_builder import SentenceContext, build_candidate
from apps.pipeline.extraction.patterns.catalogue import BY_NAME
from apps.pipeline.extraction.patterns.health.conditions import conditions_told
from apps.pipeline.extraction.patterns.health.diets import diets_told
from apps.pipeline.extraction.patterns.health.doctors import doctors_told
from apps.pipeline.extraction.patterns.health.exchanges import ended, is_ended, replaced
from apps.pipeline.extraction.patterns.health.foreign_subjects import foreign_subject
from apps.pipeline.extraction.patterns.health.hearsay import is_hearsay, is_said_by_a_thing
from apps.pipeline.extraction.patterns.health.jests import is_in_jest
from apps.pipeline.extraction.patterns.health.kept_as_said import kept_as_said
from apps.pipeline.extraction.patterns.health.medicines import medicines_told
from apps.pipeline.extraction.patterns.health.owner import Owner, speaker_as_owner
from apps.pipeline.extraction.patterns.health.owners import owner_in
from apps.pipeline.extraction.patterns.health.reactions import reactions_told
from apps.pipeline.extraction.patterns.health.terms import medicines_in
from apps.pipeline.extraction.patterns.health.told import HealthStatement, is_open
from apps.pipeline.extraction.patterns.relative_clauses import without_relative_clauses
from apps.pipeline.extraction.patterns.sentences import Sentence
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.medical_names import is_medicine

_READERS = (reactions_told, medicines_told, conditions_told, diets_told, doctors_told)
_HEALTH_PREDICATES = frozenset(
    "takes_medication allergic_to intolerant_to can_have must_not consumes reacts_to has_condition diet relies_on diagnosed_with prescribed".split()
)
_TYPED = 0.65  # importance from which on a candidate was not read in free words
_WORDS = re.compile(r"[\w'-]+")
_SUPPOSES = re2.compile(
    r"(?i)\b(?:if|somebody|someone|people|what if|imagine|as long as)\b|^when(?:ever)? (?:it|they|there)\b"
)
_BECOMES = frozenset({"go", "turn", "become"})  # "went vegan"
_PRONOUNS = frozenset({"She", "He"})
# "Hydroxyurea 500 at night, and penicillin she must never be given": the list is hers.
_PATIENT = re.compile(
    r"(?i)\b(?:she|he) (?:also )?(?:must|mustn['’]t|can['’]?t|cannot|has to|needs to|(?:is not|isn['’]t) allowed to)(?: (?:not|never|also|always))? (?:be given|have|take|eat|drink|swallow|skip|avoid)\b"
)
_FIRST_PERSON = re.compile(r"(?i)\b(?:i|me|my|mine|we|us|our)\b")
_DIGIT = re2.compile(r"\d")
_JOINS = re.compile(
    r"(?i)[;:]\s+|\s+-\s+|,? (?:but|(?<!['’]m )(?<!\bam )(?<!\bis )(?<!['’]s )so|because|cause|and then)\s+(?!of\b)|\s+&\s+|,\s+(?:and|also|plus)\s+|,\s+(?=(?:which|who|where|as)\s)"
)


def health_in(
    sentence: Sentence,
    *,
    said: SentenceContext,
    known: Sequence[Candidate],
    last: Owner | None,
    before: str = "",
    after: str = "",
) -> tuple[tuple[Candidate, ...], Owner]:
    """Return what a sentence says of health that is not known yet, and whom it was about.

    `last` is whom the sentence before was about: "Her pills. Donepezil 5 at bedtime."
    """
    speaker = speaker_as_owner(said.speaker)
    owner = last or speaker
    if not is_english(sentence.text) or said.speech_act is not SpeechAct.ASSERTED or said.turn.speaker:
        return (), owner
    found: list[Candidate] = []
    relatives = named_relatives(known)
    known = tuple(each for each in known if not is_thing_taken(each, relatives=relatives))
    text = without_relative_clauses(sentence.text)
    owner = _patient_in(text, said, owner) if owner.is_speaker else owner
    parts = tuple(_parts(text))
    for clause in parts[:-1] if sentence.asks else parts:  # what is told before a question
        if _SUPPOSES.search(clause):
            break  # what follows may depend on it
        told, owner = _of_clause(clause, said, owner)
        told = [*told, *ended(told, f"{sentence.text} {after}")]
        exchanged = tuple(replaced(told, f"{before} {sentence.text}"))
        found = [each for each in found if not any(is_ended(each, other) for other in exchanged)]
        for each in (*told, *exchanged):
            if not _is_known(each, (*known, *found)) and not _is_odd(each, said.speaker.text):
                found.append(_candidate(each, said))
    return tuple(found), owner


def _patient_in(text: str, said: SentenceContext, speaker: Owner) -> Owner:
    """Return who must take or avoid what a sentence lists, if it says nothing of the speaker; else the speaker."""
    patient = None if _FIRST_PERSON.search(text) else _PATIENT.search(text)
    if patient is None:
        return speaker
    return owner_in(text, end=patient.end(), speaker=said.speaker, last=speaker, antecedent=said.antecedent)


def without_told(known: Sequence[Candidate], told: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that none of `told` says better: with a dose, or by a predicate instead of free words."""
    dosed = {each.object.text for each in told if each.predicate == "takes_medication" and _DIGIT.search(each.content)}
    relatives = named_relatives(known)
    things = {each.object.text.split()[-1] for each in told if each.object.text}
    return tuple(
        each
        for each in known
        if not is_thing_taken(each, relatives=relatives)
        and not (each.subject.text in _PRONOUNS and any(_is_same(each, other) for other in told))
        and not (each.predicate == "takes_medication" and each.object.text in dosed)
        and not (each.predicate in _BECOMES and any(other.predicate == "diet" for other in told))
        and not (each.importance < _TYPED and not things.isdisjoint(_WORDS.findall(each.content.lower())))
    )


def named_relatives(known: Sequence[Candidate]) -> frozenset[str]:
    """Return the names of those whom candidates call the speaker's relatives: "my sister Camila" is no medicine."""
    ties = (each for each in known if each.traits.ties_entities)
    return frozenset(text for each in ties for text in (each.subject.text, each.object.text))


def is_thing_taken(candidate: Candidate, *, relatives: frozenset[str]) -> bool:
    """Return True for a statement with a medicine for its subject, read as a person: "Eutirox is now 75"."""
    subject = candidate.subject.text
    return subject not in relatives and " " not in subject and is_medicine(subject) and not candidate.subject.is_speaker


def _is_same(one: Candidate, two: Candidate) -> bool:
    return one.predicate == two.predicate and one.object.text.lower() == two.object.text.lower()


def _parts(text: str) -> Iterator[str]:
    """Yield the clauses of a sentence; a condition ("if …") holds for the part that it stands in."""
    start = 0
    for joint in _JOINS.finditer(text):
        yield text[start : joint.start()]
        start = joint.end()
    yield text[start:]


def _of_clause(clause: str, said: SentenceContext, last: Owner) -> tuple[list[HealthStatement], Owner]:
    def owner_before(end: int, *, has_statement: bool = True) -> Owner:
        return owner_in(
            clause,
            end=end,
            speaker=said.speaker,
            last=last,
            antecedent=said.antecedent,
            has_statement=has_statement,
        )

    if is_open(clause) or is_said_by_a_thing(clause) or is_in_jest(clause):
        # "My patient takes tramadol so they changed to codeine": the next clause is about the patient.
        return [], owner_before(len(clause)) if _names_medicine_of_another(clause) else last
    told: list[HealthStatement] = []
    has_statement = False
    for read in _READERS:
        for each in read(clause, owner_before=owner_before):
            has_statement = True
            if (
                each.owner.is_known
                and not is_hearsay(each, clause)
                and not any(_same_thing(each, other) for other in told)
            ):
                told.append(each)
    told = told or list(kept_as_said(clause, speaker=said.speaker, owner_before=owner_before))
    if told:
        return told, told[-1].owner
    return [], owner_before(len(clause), has_statement=has_statement or _names_medicine_of_another(clause))


def _names_medicine_of_another(clause: str) -> bool:
    """Return True for what somebody unknown once took: "the lad upstairs was on warfarin", so they changed his."""
    return foreign_subject(clause, end=len(clause)) is not None and next(medicines_in(clause), None) is not None


def _same_thing(one: HealthStatement, two: HealthStatement) -> bool:
    words = set(one.thing.split())
    return one.thing in two.content.lower() or (bool(words) and words <= set(two.content.lower().strip(".").split()))


def _is_known(told: HealthStatement, known: Sequence[Candidate]) -> bool:
    """Return True if a candidate says as much about the same thing already."""
    head = told.thing.split()[-1] if told.thing else ""
    for each in known:
        if told.is_negated and told.row == "takes_medicine":
            if each.predicate == "takes_medication" and each.polarity is Polarity.NEGATIVE and head in each.content:
                return True
            continue
        if each.subject.text in _PRONOUNS and told.owner.pronoun == each.subject.text != told.owner.text:
            continue
        if each.predicate == told_predicate(told) == "takes_medication" and _is_others(each, told):
            continue
        if told.row == "reacts_to" and each.polarity is Polarity.NEGATIVE:
            continue  # that somebody leaves it out does not say why
        is_about_it = bool(head) and head in each.content.lower() and (each.importance >= _TYPED or _says_less(told))
        is_health = each.predicate in _HEALTH_PREDICATES and each.object.text.lower() in told.thing
        if is_about_it or is_health:
            return bool(_DIGIT.search(each.content)) or not _DIGIT.search(told.content)
    return False


def _says_less(told: HealthStatement) -> bool:
    """Return True for what free words say as well: "had an ulcer"."""
    return told.row == "diagnosed"


def told_predicate(told: HealthStatement) -> str:
    """Return the predicate that a statement will have."""
    return BY_NAME[told.row].predicate


def _is_others(known: Candidate, told: HealthStatement) -> bool:
    """Return True if a list of doses was read as the speaker's, and the clause is about somebody else."""
    return known.subject.is_speaker and not told.owner.is_speaker


def _is_odd(told: HealthStatement, name: str) -> bool:
    content = told.content
    return third_person.speaks_in_first_person(content, name=name) or third_person.addresses_someone(content, name=name)


def _candidate(told: HealthStatement, said: SentenceContext) -> Candidate:
    row = BY_NAME[told.row]
    value = ObjectValue(literal=told.thing)
    return build_candidate(
        said, subject=told.owner.mention, row=row, value=value, content=told.content, is_negated=told.is_negated
    )
