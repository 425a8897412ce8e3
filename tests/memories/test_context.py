"""The context block of a user: rules and facts always, hits for the query, nothing that may not be shown."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.memories.context import ContextQuery, build_block
from apps.pipeline.core.enums import MemoryType, Polarity, Stakes, Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.retrieval.context_block import RenderedBlock
from apps.providers.wordllama import count_tokens
from tests.memories.conftest import NOW

A_DAY = timedelta(days=1)


@pytest.fixture
def build(ana: UUID, embedder):
    def run(text: str = "", *, token_budget: int = 2_000, **values: Any) -> RenderedBlock:
        return build_block(
            end_user_id=ana,
            query=ContextQuery(text=text, token_budget=token_budget, **values),
            embedder=embedder,
            count_tokens=count_tokens,
            policy=RetrievalPolicy(),
            now=NOW,
        )

    return run


@pytest.fixture
def known(remember) -> None:
    remember("User never wants peanuts.", type=MemoryType.PREFERENCE, tags=("constraint",), subject="User")
    remember("User always wants metric units.", type=MemoryType.PREFERENCE, tags=("convention",), subject="User")
    remember("User lives in Oslo.", subject="User", predicate="lives_in", object="Oslo", importance=0.8)
    remember("Priya works at Acme.", subject="Priya", predicate="works_at", object="Acme")
    remember("User saw a heron at the lake.", subject="User")
    remember("User repaired the old bicycle.", subject="User")


@pytest.mark.usefixtures("known")
def test_rules_and_facts_are_there_whatever_is_asked(build) -> None:
    block = build("the bicycle")
    assert block.text.splitlines()[1:7] == [
        "Constraints:",
        "- WARNING, never break this: User never wants peanuts.",
        "Conventions:",
        "- User always wants metric units.",
        "Known facts:",
        "Priya.works_at = Acme",
    ]
    assert "lives_in = Oslo" in block.text
    assert block.text.index("bicycle") < (block.text.index("heron") if "heron" in block.text else len(block.text))


@pytest.mark.usefixtures("known")
def test_the_same_state_gives_the_same_block(build) -> None:
    assert build("bicycle") == build("bicycle")


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("token_budget", [10, 60, 90, 120, 150, 200])
def test_the_budget_holds(build, token_budget) -> None:
    block = build("heron", token_budget=token_budget)
    assert count_tokens(block.text) == block.tokens <= token_budget


def test_nothing_known_is_an_empty_block(build, project) -> None:
    assert build("anything") == RenderedBlock()


@pytest.mark.parametrize(
    "hidden",
    [
        {"status": Status.SUPERSEDED, "valid_until": NOW - A_DAY, "valid_from": NOW - 2 * A_DAY},
        {"status": Status.RETRACTED},
        {"status": Status.PENDING_REVIEW},
        {"confidence": 0.3, "status": Status.ACTIVE},
        {"expires_at": NOW - A_DAY},
        {"valid_until": NOW - A_DAY, "valid_from": NOW - 2 * A_DAY},
        {"user_id": "ben"},
    ],
)
@pytest.mark.parametrize("tags", [(), ("constraint",)])
def test_what_may_not_be_shown_is_not_told(build, remember, hidden, tags) -> None:
    remember("User lives in Rome.", predicate="lives_in", object="Rome", subject="User", tags=tags, **hidden)
    assert build("where does User live") == RenderedBlock()


def test_low_stakes_show_what_is_unverified_and_say_so(build, remember) -> None:
    remember(
        "User lives in Rome.",
        predicate="lives_in",
        object="Rome",
        subject="User",
        status=Status.PENDING_REVIEW,
        confidence=0.3,
    )
    assert "lives_in = Rome (unverified)" in build("home", stakes=Stakes.LOW).text


def test_a_denial_is_told_as_a_sentence_not_as_a_fact(build, remember) -> None:
    remember(
        "User does not speak Danish.", subject="User", predicate="speaks", object="Danish", polarity=Polarity.NEGATIVE
    )
    block = build("Danish")
    assert "speaks = " not in block.text
    assert "- User does not speak Danish." in block.text
