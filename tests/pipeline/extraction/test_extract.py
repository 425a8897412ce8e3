"""Stage 2: every turn has an outcome, and limits drop the less important candidates with a reason."""

from dataclasses import replace

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import ExtractorKind, Reason, SourceConfidence
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, StopReason, Usage
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction import extract as extracting
from apps.pipeline.extraction.extract import IDLE, decide
from apps.pipeline.extraction.extract import run as run_all
from apps.providers.fake import ScriptedModel
from tests.pipeline.answers import listing, memory, new_turns
from tests.pipeline.builders import candidate, draft_of, ports_of, turn

PORTS = ports_of(InMemoryStore())
ONE, TWO = turn("One."), turn("Two.", position=1)


def run(draft: Draft, ports: Ports) -> Draft:
    (extracted,) = run_all([draft], ports)
    return extracted


def proposed(*importance: float, source: object = ONE) -> tuple[Candidate, ...]:
    made = (candidate(f"User says {n}.", source=source, importance=each) for n, each in enumerate(importance))
    return tuple(each.evolve(index=index) for index, each in enumerate(made))


def policy(**limits: object) -> Policy:
    return Policy(extraction=ExtractionPolicy.model_validate(limits))


def test_candidates_are_numbered_over_all_turns_and_silent_turns_dropped() -> None:
    turns = (turn("I live in Rome. I'm a nurse."), turn("Hm, right.", position=1), turn("I like tea.", position=2))
    draft = run(draft_of((), turns=turns), PORTS)
    assert [(each.index, each.content) for each in draft.candidates] == [
        (0, "User lives in Rome."),
        (1, "User is a nurse."),
        (2, "User likes tea."),
    ]
    assert [(drop.reason, drop.turn_id) for drop in draft.drops] == [(Reason.NO_CANDIDATE, turns[1].id)]
    assert [each.id for each in draft.turns] == [turns[0].id, turns[2].id]


def test_a_turn_that_can_t_be_read_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read = extracting.extract_plainly

    def fails_on_two(*, turn: SourceTurn, **given: object) -> tuple[Candidate, ...]:
        if turn.content == "Two.":
            raise ValueError("unreadable")
        return read(turn=turn, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(extracting, "extract_plainly", fails_on_two)
    draft = run(draft_of((), turns=(turn("I live in Rome."), TWO, turn("I like tea.", position=2))), PORTS)
    assert [each.content for each in draft.candidates] == ["User lives in Rome.", "User likes tea."]
    assert [(drop.reason, drop.turn_id, drop.detail) for drop in draft.drops] == [
        (Reason.EXTRACTION_FAILED, TWO.id, {"why": "ValueError: unreadable"})
    ]
    assert not draft.failure


@pytest.mark.parametrize("kind", list(ExtractorKind))
def test_without_a_model_the_patterns_stand_in_and_the_span_says_so(kind: ExtractorKind) -> None:
    given = draft_of((), turns=(turn("I live in Rome."),)).evolve(policy=policy(extractor=kind))
    draft = run(given, PORTS)
    assert len(draft.candidates) == 1
    assert (draft.details["extractor"], draft.details["configured"]) == ("plain", kind)


@pytest.mark.parametrize(
    ("importance", "limits", "kept", "dropped"),
    [
        ((0.5, 0.9, 0.1), {}, [0, 1, 2], []),
        ((0.5, 0.9, 0.1), {"max_per_turn": 2}, [0, 1], [2]),
        ((0.1, 0.9, 0.5), {"max_per_turn": 1}, [1], [0, 2]),
        ((0.5, 0.5, 0.5), {"max_per_turn": 2}, [0, 1], [2]),
        ((0.5, 0.9, 0.1), {"max_per_call": 1}, [1], [0, 2]),
    ],
)
def test_of_too_many_the_more_important_stay(
    importance: tuple[float, ...], limits: dict[str, object], kept: list[int], dropped: list[int]
) -> None:
    left, drops = decide(proposed=proposed(*importance), policy=policy(**limits), windows={ONE.id: 0})
    assert [each.index for each in left] == kept
    assert [(drop.candidate.index, drop.reason) for drop in drops if drop.candidate] == [
        (index, Reason.OVER_LIMIT) for index in dropped
    ]


def test_each_model_call_has_its_own_bound() -> None:
    first = proposed(0.9, 0.5)
    second = tuple(each.evolve(index=each.index + 2) for each in proposed(0.1, 0.2, source=TWO))
    left, _ = decide(proposed=first + second, policy=policy(max_per_call=1), windows={ONE.id: 0, TWO.id: 1})
    assert [each.index for each in left] == [0, 3]


def test_twenty_facts_of_twenty_turns_are_kept() -> None:
    turns = tuple(turn(f"I own boat number {n}.", position=n) for n in range(20))

    def tell_all(request: ModelRequest) -> str:
        said = new_turns(request).items()
        return listing(*(memory(f"User says {text}", evidence=text, turn=number) for number, text in said))

    given = draft_of((), turns=turns).evolve(policy=policy(extractor="model", max_turns=10))
    draft = run(given, replace(PORTS, model=ScriptedModel(tell_all)))
    assert (len(draft.candidates), draft.drops) == (20, ())


def test_a_refused_candidate_does_not_take_another_with_it_behind_one_read_from_a_request() -> None:
    turns = (
        turn("Please forget my address in Rome."),
        turn("I like tea.", position=1),
        turn("My password is hunter2.", position=2),
    )
    answer = listing(
        memory("User has an address in Rome.", evidence="my address in Rome", turn="t1"),
        memory("User likes tea.", evidence="I like tea", turn="t2"),
        memory("User uses the password hunter2.", evidence="My password is hunter2", turn="t3"),
    )
    given = draft_of((), turns=turns).evolve(policy=policy(extractor="model"))
    draft = run(given, replace(PORTS, model=ScriptedModel(lambda _: answer)))
    assert [each.content for each in draft.candidates] == ["User likes tea."]
    assert Reason.SECRET in [drop.reason for drop in draft.drops]


@pytest.mark.parametrize(
    ("usage", "sent_limit", "asked_limits"),
    [
        (Usage(output=5_000), 0, [4_096, 10_000]),
        (Usage(), 16_000, [4_096, 32_000]),  # the entry of the model raises the limit, and its server counts nothing
        (Usage(output=12), 16_000, [4_096, 32_000]),  # the server doesn't count reasoning
    ],
)
def test_an_answer_that_was_cut_off_is_asked_for_once_more_with_twice_the_room(
    usage: Usage, sent_limit: int, asked_limits: list[int]
) -> None:
    """A reasoning model may use up its tokens before it writes a word."""
    limits: list[int] = []

    class Thinker:
        def complete(self, request: ModelRequest) -> ModelAnswer:
            limits.append(request.max_tokens)
            limit = max(sent_limit, request.max_tokens) if sent_limit else 0
            return ModelAnswer(text="", model="thinker", stop=StopReason.TRUNCATED, usage=usage, max_tokens=limit)

    draft = run(draft_of((), turns=(turn("I live in Rome."),)), replace(PORTS, model=Thinker()))
    assert limits == asked_limits
    assert "tokens, before its first word: the model used them up for reasoning" in draft.failure
    assert str(asked_limits[1]) in draft.failure
    assert len(draft.model_calls) == 2


def test_of_an_answer_that_was_cut_off_what_is_whole_is_kept() -> None:
    text = listing(memory("User lives in Rome.", evidence="I live in Rome"))[:-2] + ', {"content": "User'
    answer = ModelAnswer(text=text, model="m", stop=StopReason.TRUNCATED)

    class Cut:
        def complete(self, request: ModelRequest) -> ModelAnswer:
            return answer

    draft = run(draft_of((), turns=(turn("I live in Rome."),)), replace(PORTS, model=Cut()))
    assert [each.content for each in draft.candidates] == ["User lives in Rome."]
    assert len(draft.model_calls) == 1


def test_what_bounds_a_models_answer_leaves_the_patterns_alone() -> None:
    left, drops = decide(proposed=proposed(0.5, 0.9, 0.1), policy=policy(max_per_call=1))
    assert (len(left), drops) == (3, ())


def test_what_is_too_unsure_is_dropped_first() -> None:
    (guess,) = proposed(0.9)
    guess = guess.evolve(source_confidence=SourceConfidence.SPECULATED, adjustment=-0.2)
    left, (drop,) = decide(proposed=(guess,), policy=policy(min_confidence=0.25))
    assert (left, drop.reason, drop.turn_id) == ((), Reason.LOW_CONFIDENCE, ONE.id)


SMALL_TALK = "Thanks! Can you rewrite this mail?"


def asked_about(*contents: str, **limits: object) -> tuple[Draft, ScriptedModel]:
    model = ScriptedModel(lambda _: listing())
    turns = tuple(turn(content, position=position) for position, content in enumerate(contents))
    given = draft_of((), turns=turns).evolve(policy=policy(**limits))
    return run(given, replace(PORTS, model=model)), model


def test_a_model_is_not_asked_about_small_talk() -> None:
    draft, model = asked_about(SMALL_TALK, extractor="model")
    (drop,) = draft.drops
    assert (model.asked, drop.reason, drop.detail) == ([], Reason.NO_CANDIDATE, {"why": IDLE})


@pytest.mark.parametrize("extractor", ["model", "stacked"])
def test_a_project_may_ask_about_small_talk_as_well(extractor: str) -> None:
    draft, model = asked_about(SMALL_TALK, extractor=extractor, skip_idle_turns=False)
    assert (len(model.asked), [drop.detail for drop in draft.drops]) == (1, [{}])


def test_small_talk_is_shown_beside_what_is_asked_about() -> None:
    draft, model = asked_about(SMALL_TALK, "Seventeen weeks, all by hand.", extractor="model")
    assert new_turns(model.asked[0]) == {"t2": "Seventeen weeks, all by hand."}
    assert SMALL_TALK.partition("!")[0] in model.asked[0].turns
    assert [drop.detail for drop in draft.drops] == [{"why": IDLE}, {}]
