"""The context block of a user: rules and facts always, hits for the query, nothing that may not be shown."""

from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from apps.memories.models import Memory
from apps.pipeline.core.enums import LinkKind, MemoryType, Polarity, SourceConfidence, Stakes, Status
from apps.pipeline.core.policy import RetrievalPolicy
from apps.providers.wordllama import WordLlamaEmbedder
from apps.retrieval.block import ContextBlock
from apps.retrieval.context import build_block
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import ranked
from tests.retrieval.conftest import NOW, contradict

A_DAY = timedelta(days=1)


@pytest.fixture
def build(ana: UUID, embedder):
    def run(text: str = "", *, token_budget: int = 2_000, **values: Any) -> ContextBlock:
        query = SearchQuery(text=text, **values)
        with ranked(end_user_id=ana, query=query, embedder=embedder, policy=RetrievalPolicy(), now=NOW) as ranking:
            return build_block(ranking, token_budget=token_budget)

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
    assert build("the bicycle").text.splitlines()[1:-1] == [
        "About the user:",
        "Relevant memories:",
        "- Repaired the old bicycle.",
        "Rules that must never be broken:",
        "- Never wants peanuts.",
        "Rules:",
        "- Always wants metric units.",
        "Known facts:",
        "- Saw a heron at the lake.",
        "- Priya works at Acme.",
        "- Lives in Oslo.",
    ]


@pytest.mark.usefixtures("known")
def test_the_same_state_gives_the_same_block(build) -> None:
    assert build("bicycle") == build("bicycle")


@pytest.mark.usefixtures("known")
def test_more_budget_only_adds(build) -> None:
    blocks = [build("the heron", token_budget=budget) for budget in range(20, 260, 10)]
    for small, large in pairwise(blocks):
        assert large.memory_ids[: len(small.memory_ids)] == small.memory_ids
    assert blocks[-1].omitted == 0


def test_nothing_known_is_an_empty_block(build, project) -> None:
    assert build("anything") == ContextBlock()


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
def test_what_may_not_be_shown_is_left_out(build, remember, hidden, tags) -> None:
    remember("User lives in Rome.", predicate="lives_in", object="Rome", subject="User", tags=tags, **hidden)
    assert build("where does User live") == ContextBlock()


def test_important_facts_come_newest_first(build, remember) -> None:
    remember("User owns a boat.", importance=0.52, said_at=NOW - 3 * A_DAY)
    remember("User owns a car.", importance=0.48, said_at=NOW - A_DAY)
    remember("User owns a house.", importance=0.8, said_at=NOW - 9 * A_DAY)
    text = build().text
    assert text.index("house") < text.index("car") < text.index("boat")


def test_facts_with_more_budget_never_replace_what_is_asked(build, remember) -> None:
    for number in range(40):
        remember(f"User counted {number} ships.", importance=0.9, indexed=False)
    wanted = remember("Jonas has coeliac disease.", importance=0.3)
    for budget in (80, 400, 1_000):
        assert build("does Jonas have a disease", token_budget=budget).memory_ids[0] == wanted.id


class TestByMeaning:
    """Under the default embedder, no word of the query is in the memories."""

    @pytest.fixture
    def embedder(self) -> WordLlamaEmbedder:
        return WordLlamaEmbedder()

    def test_a_guest_s_illness_comes_before_a_doctor_s_name(self, build, remember) -> None:
        ill = remember(
            "Jonas has coeliac disease.", subject="Jonas", predicate="has_condition", object="coeliac disease"
        )
        remember("Jonas is allergic to hazelnuts.", subject="Jonas", predicate="allergic_to", object="hazelnuts")
        remember("User's doctor is Dr. Meyer.", subject="User", predicate="has_doctor", object="Dr. Meyer")
        remember("User lives in Oslo.", subject="User", predicate="lives_in", object="Oslo")
        text = build("a cake that everyone can eat").text
        assert text.index("hazelnuts") < text.index("Meyer")
        assert text.index("coeliac") < text.index("Meyer")
        assert ill.id in build("a cake that everyone can eat", token_budget=90).memory_ids


def test_what_is_over_or_denied_is_shown_only_where_it_is_asked_for(build, remember) -> None:
    """A plan whose day has passed, and what a user does not have."""
    plan = {"type": MemoryType.EVENT, "said_at": NOW - 9 * A_DAY, "event_at": NOW - A_DAY}
    remember("User sees the dentist.", **plan)
    remember(
        "User is not allergic to penicillin.",
        subject="User",
        predicate="allergic_to",
        object="penicillin",
        polarity=Polarity.NEGATIVE,
    )
    remember("User eats no pork.", subject="User", predicate="diet", object="no pork")
    assert build("dinner").text.splitlines()[2:-1] == ["Health:", "- Eats no pork."]
    assert "- Sees the dentist. (was planned, on 31 May 2030)" in build("the dentist").text
    assert "- Is not allergic to penicillin." in build("penicillin").text


def test_what_may_say_the_same_is_not_disputed(build, remember) -> None:
    teaches, works = remember("User is a teacher."), remember("User works at Elm School.")
    contradict(teaches, works, kind=LinkKind.POSSIBLE_DUPLICATE)
    told = build().text
    assert "disputed" not in told
    assert "\n- Is a teacher.\n" in told
    assert "\n- Works at Elm School.\n" in told


def test_the_hidden_side_of_a_dispute_stays_hidden(build, remember) -> None:
    rome = remember("User lives in Rome.")
    contradict(rome, remember("User lives in Bari.", status=Status.PENDING_REVIEW, confidence=0.3))
    assert "- disputed: Lives in Rome. (said 1 June 2030)\n" in build().text
    assert "Bari" not in build("Bari").text
    assert "also said: Lives in Bari. (said 1 June 2030, unconfirmed)" in build(stakes=Stakes.LOW).text


def test_an_approved_memory_has_no_doubt_left(build, remember) -> None:
    memory = remember("User is a nurse.", source_confidence=SourceConfidence.SPECULATED)
    Memory.objects.filter(id=memory.id).update(status=Status.ACTIVE, confidence=0.8)
    assert "- Is a nurse. (uncertain)" in build().text
    Memory.objects.filter(id=memory.id).update(confidence_parts={"review": 0.5})
    assert "- Is a nurse.\n" in build(stakes=Stakes.HIGH).text


def test_the_next_events_are_shown_before_less_important_facts(remember, build) -> None:
    for number in range(8):
        remember(f"User owns thing number {number}.", importance=0.9, said_at=NOW - number * A_DAY)
    remember("User flies to Oslo.", type=MemoryType.EVENT, event_at=NOW + 3 * A_DAY, importance=0.2)
    remember("User flew to Rome.", type=MemoryType.EVENT, event_at=NOW - 3 * A_DAY, importance=0.2)
    lines = build().text.splitlines()
    assert lines[lines.index("Upcoming:") + 1] == "- Flies to Oslo. (on 4 June 2030)"
    small = build(token_budget=80)
    assert "- Flies to Oslo." in small.text
    assert "- Owns thing number 7." not in small.text
