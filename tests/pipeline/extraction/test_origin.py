"""Whose statement a model's answer is: by its quote, and by the source of the words of its claim."""

from typing import Any

import pytest

from apps.pipeline.core.enums import Reason, Role, SpeechAct
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.llm.candidates import Judge, Shown, propose
from apps.pipeline.extraction.windows import CandidateRefusal
from apps.pipeline.prompts.sections import ShownTurn
from tests.pipeline.answers import memory
from tests.pipeline.builders import turn
from tests.pipeline.provenance.messages import MATERIAL, OWN

JUDGE = Judge(model="scripted", policy=ExtractionPolicy())
RULE: dict[str, Any] = {"type": "preference", "predicate": "wants_assistant_to", "tags": ["constraint"]}


def proposed(
    content: str, *, said: str, quote: str, before: tuple[tuple[Role, str], ...] = (), **changes: Any
) -> Candidate | CandidateRefusal:
    """Convert a model's answer about a user's turn after turns of several roles."""
    told = [turn(text, position=place, role=role) for place, (role, text) in enumerate(before)]
    shown = [ShownTurn(f"t{place}", each, is_new=False) for place, each in enumerate(told)]
    source = ShownTurn("t9", turn(said, position=len(told)))
    answer = memory(content, evidence=quote, turn="t9", **changes)
    return propose(answer, shown=Shown(turns=[*shown, source], entities={}), judge=JUDGE).outcome


def speech_act(outcome: Candidate | CandidateRefusal) -> SpeechAct:
    assert isinstance(outcome, Candidate)
    return outcome.speech_act


@pytest.mark.parametrize(
    ("content", "quote", "changes"),
    [
        ("User wants the assistant to never ask back.", "Never ask back", RULE),
        ("User wants the assistant to never ask back.", "Never ask back", {}),
        ("User's name is Lee.", "My name is Lee", {"predicate": "name", "value": "Lee"}),
    ],
)
def test_a_rule_or_a_name_in_others_words_is_refused(content: str, quote: str, changes: dict[str, Any]) -> None:
    found = proposed(content, said=f"Lee wrote me: {quote}.", quote=quote, **changes)
    assert isinstance(found, CandidateRefusal)
    assert found.reason == Reason.OTHERS_WORDS
    assert "pasted text" in found.why


@pytest.mark.parametrize("role", [Role.TOOL, Role.SYSTEM, Role.ASSISTANT])
def test_a_claim_has_the_origin_of_the_text_that_holds_it(role: Role) -> None:
    before = ((role, "Never ask back. The user lives in Rome."),)
    given: dict[str, Any] = {"said": "Thanks, what a lovely day.", "quote": "what a lovely day", "before": before}
    rule = proposed("User wants the assistant to never ask back.", **given, **RULE)
    assert isinstance(rule, CandidateRefusal)
    assert rule.reason == Reason.OTHERS_WORDS
    assert speech_act(proposed("User lives in Rome.", value="Rome", **given)) is SpeechAct.QUOTED


def test_a_claim_that_only_a_paste_of_the_same_turn_holds_is_not_own() -> None:
    said = "I love my home.\n\n> I live in Rome."
    assert speech_act(proposed("User lives in Rome.", said=said, quote="I love my home", value="Rome")) is (
        SpeechAct.QUOTED
    )


@pytest.mark.parametrize(
    ("asked", "said", "content", "changes"),
    [
        ("Shall I always use metric units?", "Yes, please.", "User wants the assistant to use metric units.", RULE),
        ("Where do you live, in Rome?", "Yes, since May.", "User lives in Rome.", {"value": "Rome"}),
        ("Rome is lovely.", "I loved it there last year.", "User loved Rome.", {"value": "Rome"}),
    ],
)
def test_an_answer_takes_up_the_assistants_words(asked: str, said: str, content: str, changes: dict[str, Any]) -> None:
    found = proposed(content, said=said, quote=said, before=((Role.ASSISTANT, asked),), **changes)
    assert speech_act(found) is SpeechAct.ASSERTED


def test_a_rule_that_the_assistant_offers_needs_a_short_answer() -> None:
    found = proposed(
        "User wants the assistant to always use metric units.",
        said="What I really need to know is the way to the station.",
        quote="What I really need to know",
        before=((Role.ASSISTANT, "Shall I always use metric units?"),),
        **RULE,
    )
    assert isinstance(found, CandidateRefusal)


def test_what_the_user_said_in_an_earlier_turn_is_own() -> None:
    found = proposed(
        "User lives in Rome.",
        said="Yes, I do live there, with my cat.",
        quote="I do live there",
        before=((Role.USER, "Rome is my town."), (Role.TOOL, "Rome: 12 degrees")),
        value="Rome",
    )
    assert speech_act(found) is SpeechAct.ASSERTED


ADVERT = "What do you think of this advert?\n\nNurse at Saint Mary, 38 hours a week, from May on."
LEAFLET = "What does this page say?\n\nHeat pumps need space. Teachers get a discount. Rome has 30 degrees."


@pytest.mark.parametrize(
    ("before", "said", "quote", "content", "value"),
    [
        # The user says of themselves what stands in a text of another turn.
        (
            ADVERT,
            "I got that job!",
            "I got that job",
            "User got the job of a nurse at Saint Mary.",
            "nurse at Saint Mary",
        ),
        (
            LEAFLET,
            "Wir haben die Wärme aus der Erde, seit Mai.",
            "Wir haben die Wärme aus der Erde",
            "User has a heat pump.",
            "heat pump",
        ),
        (
            LEAFLET,
            "I used to teach at the school next door.",
            "I used to teach at the school",
            "User used to teach at a school.",
            "former teacher",
        ),
    ],
)
def test_own_words_are_not_doubted_because_of_a_paste_in_another_turn(
    before: str, said: str, quote: str, content: str, value: str
) -> None:
    found = proposed(content, said=said, quote=quote, before=((Role.USER, before),), value=value)
    assert speech_act(found) is SpeechAct.ASSERTED


@pytest.mark.parametrize(
    ("before", "said", "quote", "content", "value"),
    [
        # Harmless words for what a paste holds: they don't say it, ask, or only announce a text.
        (ADVERT, "Thanks, what a lovely day.", "what a lovely day", "User is a nurse.", "nurse"),
        (
            ADVERT,
            "Did I get that job?",
            "Did I get that job?",
            "User got a job as nurse at Saint Mary.",
            "nurse at Saint Mary",
        ),
        (LEAFLET, "Ich fahre heute zur Arbeit.", "Ich fahre heute zur Arbeit", "User lives in Rome.", "Rome"),
        (LEAFLET, "I love my school.", "I love my school", "User is a teacher.", "teacher"),
    ],
)
def test_harmless_words_bear_no_claim_of_a_paste_in_another_turn(
    before: str, said: str, quote: str, content: str, value: str
) -> None:
    found = proposed(content, said=said, quote=quote, before=((Role.USER, before),), value=value)
    assert speech_act(found) is SpeechAct.QUOTED


def test_own_words_take_up_a_paste_with_a_marked_end_in_the_same_turn() -> None:
    said = "> Nurse wanted at Saint Mary.\n\nI got that job!"
    found = proposed("User got a job as nurse at Saint Mary.", said=said, quote="I got that job", value="Saint Mary")
    assert speech_act(found) is SpeechAct.ASSERTED


def test_a_name_is_not_taken_from_a_paste() -> None:
    given: dict[str, Any] = {"predicate": "name", "value": "Mallory"}
    before = ((Role.USER, "> My name is Mallory."),)
    found = proposed(
        "User's name is Mallory.", said="I use that name.", quote="I use that name", before=before, **given
    )
    assert isinstance(found, CandidateRefusal)


def test_a_date_that_was_computed_is_no_word_of_a_paste() -> None:
    before = ((Role.USER, "Is it spam?\n\nFrom: Lee\nDate: 12 June 2025\n\nHello"),)
    given: dict[str, Any] = {"type": "event", "event_at": "2025-06-12", "value": "2025-06-12"}
    found = proposed(
        "User has an exam on 12 June 2025.",
        said="My exam is on Thursday.",
        quote="My exam is on Thursday",
        before=before,
        **given,
    )
    assert speech_act(found) is SpeechAct.ASSERTED


def claim_of(words: str) -> str:
    """Return what a model that believes everything makes of words."""
    return f"User says: {words}."


@pytest.mark.parametrize(("message", "words"), MATERIAL)
def test_material_is_not_asserted_whatever_a_model_quotes(message: str, words: str) -> None:
    for quote in (words, message, message.split("\n")[0].split(":")[0]):
        found = proposed(claim_of(words), said=message, quote=quote, value=words)
        assert isinstance(found, CandidateRefusal) or found.speech_act is not SpeechAct.ASSERTED, quote


@pytest.mark.parametrize(("message", "words"), OWN)
def test_own_words_beside_material_are_asserted(message: str, words: str) -> None:
    assert speech_act(proposed(claim_of(words), said=message, quote=words, value=words)) is SpeechAct.ASSERTED
