"""Judges are asked in batches, however many cases are open: at most two calls per request, for few statements."""

from uuid import UUID

import pytest

from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, KnownEntity, Request
from apps.pipeline.core.enums import EntityType, ExtractorKind, Reason
from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.policy import ExtractionPolicy, JudgePolicy, Policy
from apps.pipeline.core.statement import Candidate, Mention
from apps.providers.fake import ScriptedModel
from tests.pipeline.builders import candidate, turn
from tests.pipeline.prompts.test_judges import ORIGIN, World, saying

POLICY = Policy(extraction=ExtractionPolicy(extractor=ExtractorKind.MODEL))


def questions(model: ScriptedModel, purpose: Purpose) -> list[int]:
    """Return the number of questions in each call for a purpose."""
    return [asked.turns.count("<question ") for asked in model.asked if asked.purpose is purpose]


def told(world: World, *candidates: Candidate) -> Draft:
    """Process one request with candidates from the first turns of the builders."""
    turns = tuple(turn(each.content, position=place) for place, each in enumerate(candidates))
    placed = tuple(
        each.evolve(index=place, source_turn_ids=(turns[place].id,)) for place, each in enumerate(candidates)
    )
    request = Request(trace_id=world.ids.new(), origin=ORIGIN, turns=turns)
    draft = Draft.start(request=request, policy=world.policy).evolve(candidates=placed)
    return flow.settle(draft, world.ports)


def with_two_sams(model: ScriptedModel, policy: Policy) -> World:
    world = World(model, policy=policy)
    state = world.store.state(end_user_id=ORIGIN.end_user_id)
    for number, noun in enumerate(("brother", "coach")):
        sam = KnownEntity(
            id=UUID(int=60 + number), name="Sam", type=EntityType.PERSON, aliases=("Sam", f"User's {noun}")
        )
        state = state.with_entity(sam)
    world.store.put(end_user_id=ORIGIN.end_user_id, state=state)
    return world


def about_sam(number: int) -> Candidate:
    content = f"Sam knows song {number}."
    return candidate(
        content, source=turn(content), subject=Mention("Sam", type=EntityType.PERSON), value=f"song {number}"
    )


@pytest.mark.parametrize(("ties", "most", "calls", "settled"), [(1, 10, [1], 1), (9, 10, [9], 9), (25, 10, [10], 10)])
def test_many_ties_take_one_call(ties: int, most: int, calls: list[int], settled: int) -> None:
    model = saying("1")
    policy = POLICY.model_copy(update={"judges": JudgePolicy(most_questions=most)})
    draft = told(with_two_sams(model, policy), *map(about_sam, range(ties)))
    assert questions(model, Purpose.JUDGE_REFERENCES) == calls
    assert [call.purpose for call in draft.model_calls] == [Purpose.JUDGE_REFERENCES] * len(calls)
    assert len(draft.candidates) == settled
    assert [drop.reason for drop in draft.drops] == [Reason.RESOLUTION_FAILED] * (ties - settled)


def test_a_plan_made_again_asks_no_third_time() -> None:
    model = saying("1")
    world = with_two_sams(model, POLICY)
    draft = told(world, about_sam(1))
    for _ in range(3):
        again = Draft.start(request=draft.request, policy=POLICY)
        again = again.evolve(candidates=(about_sam(1),), model_calls=draft.model_calls)
        draft = flow.settle(again, world.ports)
    assert questions(model, Purpose.JUDGE_REFERENCES) == [1, 1]


THINGS = ("tea", "figs", "rain", "chess", "Porto", "jazz", "snow", "bread", "maps", "moss")


def believed(belief: str) -> Candidate:
    content = f"User believes that the old {belief} people in need."
    return candidate(content, source=turn(content), predicate="believes_in", value=belief)


def test_however_many_oppose_one_call_is_made() -> None:
    model = saying("unsure")
    world = World(model, policy=POLICY)
    known = told(world, *(believed(f"{thing} {place} always helps") for thing in THINGS for place in ("one", "two")))
    world.store.apply(draft=known, plan=plan_from(known))
    model.asked.clear()
    told(world, *(believed(f"{thing} {place} never helps") for thing in THINGS for place in ("one", "two")))
    assert questions(model, Purpose.JUDGE_PAIRS) == [POLICY.judges.most_questions]
