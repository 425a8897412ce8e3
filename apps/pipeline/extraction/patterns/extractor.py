"""Run the patterns over one turn: text → sentences → clauses → statements → candidates."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from apps.pipeline.core.enums import EntityType, Role, SourceConfidence, SpeechAct
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.patterns import answers, sentences, task_noise
from apps.pipeline.extraction.patterns.antecedents import (
    Antecedent,
    asked_about,
    may_refer,
    only_person_told_about,
    people_in,
)
from apps.pipeline.extraction.patterns.candidate_builder import (
    SentenceContext,
    build_candidate,
)
from apps.pipeline.extraction.patterns.clause_reader import thing_of
from apps.pipeline.extraction.patterns.concreteness import is_concrete
from apps.pipeline.extraction.patterns.hasty_spelling import written_out
from apps.pipeline.extraction.patterns.health.owner import Owner
from apps.pipeline.extraction.patterns.health.statements import health_in, without_told
from apps.pipeline.extraction.patterns.health.terms import conditions_in
from apps.pipeline.extraction.patterns.importance_phrases import topic_of
from apps.pipeline.extraction.patterns.introductions import with_ties_inside
from apps.pipeline.extraction.patterns.naming import named_in_place, names_the_one_before, told_behind_name
from apps.pipeline.extraction.patterns.openers import clause_words
from apps.pipeline.extraction.patterns.own_lists import listed_in
from apps.pipeline.extraction.patterns.relative_clauses import with_relative_clauses_told
from apps.pipeline.extraction.patterns.self_correction import amended
from apps.pipeline.extraction.patterns.self_descriptions import with_self_told
from apps.pipeline.extraction.patterns.self_introductions import is_named_in_passing
from apps.pipeline.extraction.patterns.sentence_reader import of_sentence
from apps.pipeline.extraction.patterns.shared_predicates import told_of_each
from apps.pipeline.extraction.patterns.speech_act import (
    asks_for_confirmation,
    goes_on_mocking,
    rolls_eyes,
    speech_act_of,
)
from apps.pipeline.extraction.patterns.things_meant import with_things_named
from apps.pipeline.extraction.patterns.wholeness import is_whole
from apps.pipeline.provenance.own_words import spoken_outside_scenes
from apps.pipeline.provenance.role_play import gives_a_role

DEFAULT_SPEAKER = "User"
# Messages of usual length have fewer sentences; longer ones are lists, or made to be slow.
_MOST_SENTENCES = 50
_TURNS_LOOKED_BACK, _CHARACTERS_LOOKED_BACK = 3, 500
_MOST_LISTED = 20  # lines of lists
_ASIDE = 3  # words of a sentence that leaves open nobody new: "One stent."
_SENTENCES_LOOKED_BACK = 40  # number of earlier sentences that a correction may refer to


def extract(*, turn: SourceTurn, policy: ExtractionPolicy, before: Sequence[SourceTurn] = ()) -> tuple[Candidate, ...]:
    """Return the candidates that the patterns find in one turn, in order, each with index 0.

    `before` are the earlier turns of the session, oldest first: a correction may refer to the speaker's own, an answer
    to the assistant's question. At most the first `policy.max_turn_characters` are read. A statement is returned once.
    """
    found: dict[str, Candidate] = {}
    name = _name(turn)
    told = tuple(_candidates(turn, policy, before))
    for candidate in (*told, *_of_lists(turn, policy, before, told)):
        if is_whole(candidate.content, name=name):
            found.setdefault(candidate.content.casefold(), candidate if turn.speaker else _weighed(candidate, turn))
    return with_ties_inside(tuple(found.values()))


def _of_lists(
    turn: SourceTurn, policy: ExtractionPolicy, before: Sequence[SourceTurn], told: Sequence[Candidate]
) -> Iterator[Candidate]:
    """Yield the lines of lists that no other pattern has read; talk between people has none."""
    if turn.speaker or "\n" not in turn.content:
        return
    text = spoken_outside_scenes(turn, earlier=_of_same_speaker(turn, before), most=policy.max_turn_characters)
    if gives_a_role(text):
        return
    name = _name(turn)
    speaker = Mention(text=name, type=EntityType.PERSON, is_speaker=True)
    for item in islice(listed_in(text, name=name), _MOST_LISTED):
        if any(each.evidence.lstrip("-*• ") in item.quote or item.quote in each.evidence for each in told):
            continue
        said = SentenceContext(turn, speaker, item.quote, SpeechAct.ASSERTED, policy.pattern_reliability)
        yield build_candidate(
            said, subject=speaker, row=item.row, value=ObjectValue(literal=item.value), content=item.content
        )


def _of_same_speaker(turn: SourceTurn, before: Sequence[SourceTurn]) -> list[SourceTurn]:
    return [each for each in before if (each.role, each.speaker) == (turn.role, turn.speaker)]


def _weighed(candidate: Candidate, turn: SourceTurn) -> Candidate:
    """Leave to a person what does not show by itself that it lasts, or that it is the speaker's own name."""
    is_sure = candidate.predicate != "name" or not is_named_in_passing(candidate.evidence, message=turn.content)
    if is_sure and is_concrete(candidate, name=_name(turn)):
        return candidate
    return candidate.evolve(source_confidence=SourceConfidence.SPECULATED)


def _name(turn: SourceTurn) -> str:
    return " ".join(turn.speaker.split()) or DEFAULT_SPEAKER


def _candidates(turn: SourceTurn, policy: ExtractionPolicy, before_it: Sequence[SourceTurn]) -> Iterator[Candidate]:
    name = _name(turn)
    speaker = Mention(text=name, type=EntityType.PERSON, is_speaker=True)
    earlier = _of_same_speaker(turn, before_it)
    question = answers.question_before(before_it, turn=turn)
    patient: Owner | None = None  # whom the sentence before was about
    before = ""
    antecedent = _meant_since(earlier, before_it) if may_refer(turn.content) else Antecedent()
    text = spoken_outside_scenes(turn, earlier=earlier, most=policy.max_turn_characters)
    if not turn.speaker and gives_a_role(text):
        return
    around = "\n".join((*_texts_before(earlier), text))
    all_said = tuple(islice(_worth_reading(text), _MOST_SENTENCES))
    is_exercise = any(task_noise.asks_for_a_sum(each.text) for each in all_said)
    for place, sentence in enumerate(all_said):
        quote = sentence.text
        sentence = _in_full(sentence.in_one_line(), elsewhere=around)
        if place == 0 and (statement := answers.completed(sentence.text, question=question)):
            sentence = sentences.Sentence(text=statement, asks=False)
        said_before = islice(_looking_back(all_said[:place], earlier, policy), _SENTENCES_LOOKED_BACK)
        sentence = amended(sentence, earlier=said_before) or sentence
        last, after = _beside(all_said, place)
        sentence = replace(sentence, text=with_things_named(with_self_told(sentence.text), before=last))
        sentence, antecedent = _behind_its_name(sentence, antecedent, before=last)
        speech_act, claim = speech_act_of(sentence.text)
        if task_noise.hands_over_a_text(sentence.text):
            return
        is_sum = is_exercise and task_noise.gives_a_number(sentence.text)
        if speech_act is None or is_sum or _is_not_told(sentence.text, before=last, after=after):
            continue
        said = SentenceContext(turn, speaker, quote, speech_act, policy.pattern_reliability, antecedent=antecedent)
        if claim != sentence.text:
            sentence = sentences.Sentence(text=claim.rstrip(" ?.!"), asks=False)
        named = replace(sentence, text=named_in_place(antecedent.put_into(sentence.text), after=after))
        found = tuple(of_sentence(named, said=said, before=before))
        of_health, patient = health_in(named, said=said, known=found, last=patient, before=last, after=after)
        found = (*without_told(found, of_health), *of_health)
        before = (thing_of(found[-1]) if found else "") or topic_of(clause_words(sentence.text), name=name)
        antecedent = (
            antecedent.after(sentence.text)
            if antecedent.refers(sentence.text)
            else _introduced(found, sentence)
            if len(sentence.text.split()) > _ASIDE or people_in(sentence.text)
            else antecedent
        )
        yield from found


def _in_full(sentence: sentences.Sentence, *, elsewhere: str) -> sentences.Sentence:
    """Write out what hasty or short sentences leave to the reader."""
    told = with_relative_clauses_told(written_out(sentence.text, elsewhere=elsewhere))
    return replace(sentence, text=told_of_each(told))


def _beside(said: Sequence[sentences.Sentence], place: int) -> tuple[str, str]:
    """Return the texts of the sentences before and after one, "" where there is none."""
    before = said[place - 1].text if place else ""
    return before, said[place + 1].text if place + 1 < len(said) else ""


def _is_not_told(sentence: str, *, before: str, after: str) -> bool:
    """Return True if a sentence is asked or mocked, or only names somebody of the one before it."""
    is_mocked = rolls_eyes(after) or goes_on_mocking(sentence, before=before)
    return is_mocked or asks_for_confirmation(sentence) or names_the_one_before(before, sentence)


def _meant_since(earlier: Sequence[SourceTurn], before_it: Sequence[SourceTurn]) -> Antecedent:
    """Return whom "she" may mean at the beginning: the only person of the question that is answered, or else of the
    speaker's last turn that names anybody.
    """
    if before_it and before_it[-1].role is Role.ASSISTANT and before_it[-1].content.rstrip().endswith("?"):
        asked = " ".join(before_it[-1].content[-_CHARACTERS_LOOKED_BACK:].split())
        if (meant := asked_about(asked)) is not None:
            return meant
        if person := only_person_told_about(asked):
            return Antecedent(person)
    for text in _texts_before(earlier):
        if people_in(text):
            return Antecedent(only_person_told_about(text))
    return Antecedent()


def _texts_before(earlier: Sequence[SourceTurn]) -> Iterator[str]:
    """Yield the beginnings of the last earlier turns, latest first."""
    for turn in tuple(reversed(earlier))[:_TURNS_LOOKED_BACK]:
        yield " ".join(turn.content[:_CHARACTERS_LOOKED_BACK].split())


def _behind_its_name(
    sentence: sentences.Sentence, antecedent: Antecedent, *, before: str
) -> tuple[sentences.Sentence, Antecedent]:
    """Return what is told of the one before behind their name, and that name: "Her name is Lu, she teaches French"."""
    name, rest = told_behind_name(sentence.text) if names_the_one_before(before, sentence.text) else ("", "")
    return (replace(sentence, text=rest), Antecedent(name)) if rest else (sentence, antecedent)


def _introduced(found: Sequence[Candidate], sentence: sentences.Sentence) -> Antecedent:
    """Return whom the next sentence may mean: the only relative that is named, or the only person told about."""
    named = {each.subject.text for each in found if each.extractor.endswith("_of")}
    return Antecedent(named.pop()) if len(named) == 1 else Antecedent().after(sentence.text)


def _worth_reading(text: str) -> Iterator[sentences.Sentence]:
    """Yield each sentence once; single words are skipped, unless the first one answers a question."""
    said: set[str] = set()
    for place, sentence in enumerate(sentences.sentences_of(text)):
        is_more = " " in sentence.text or "\n" in sentence.text or place == 0 or _says_much(sentence.text)
        if is_more and sentence.text not in said:
            said.add(sentence.text)
            yield sentence


def _says_much(word: str) -> bool:
    """Return True for a sentence of one word that calls the one before a joke, or names a condition: "Gout."."""
    return rolls_eyes(word) or next(conditions_in(word), None) is not None


def _looking_back(
    said: Sequence[sentences.Sentence], earlier: Sequence[SourceTurn], policy: ExtractionPolicy
) -> Iterator[sentences.Sentence]:
    """Yield the sentences before, in this turn and the earlier ones, latest first."""
    yield from reversed(said)
    for turn in reversed(earlier):
        yield from reversed(tuple(sentences.sentences_of(turn.content[: policy.max_turn_characters])))
