"""Whose statement a model's answer is: by its quote, and by the source of the words of its claim."""

from typing import Any

import pytest

from apps.pipeline.core.enums import Reason, Role, SpeechAct
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.extraction_result import CandidateRefusal
from apps.pipeline.extraction.llm.candidates import Judge, Shown, propose
from apps.pipeline.prompts.sections import ShownTurn
from tests.pipeline.answers import memory
from tests.pipeline.builders import turn

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
    return propose(answer, shown=Shown(turns=[*shown, source], entities=[]), judge=JUDGE).outcome


def speech_act(outcome: Candidate | CandidateRefusal) -> SpeechAct:
    assert isinstance(outcome, Candidate)
    return outcome.speech_act


def test_a_quote_of_others_is_reported_at_most() -> None:
    found = proposed(
        "User lives in Rome.", said="> I live in Rome.\nWhat does he mean?", quote="I live in Rome", value="Rome"
    )
    assert speech_act(found) is SpeechAct.QUOTED


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


def test_role_play_stays_role_play() -> None:
    found = proposed("User lives in Rome.", said="Let's role-play. I live in Rome.", quote="I live in Rome")
    assert speech_act(found) is SpeechAct.ROLEPLAY
