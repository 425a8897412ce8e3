"""An answer's proposals about known memories and its own earlier ones are followed, or refused with a reason."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Request
from apps.pipeline.core.enums import Reason, Stage, Status
from apps.pipeline.core.model_calls import ModelRequest
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.policy import JudgePolicy, Policy
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.turn import SourceTurn
from apps.providers.fake import ScriptedModel
from apps.traces.trace_report import report_of
from tests.pipeline.answers import memory
from tests.pipeline.builders import ORIGIN, ports_of, turn

POLICY = Policy(judges=JudgePolicy(references=False, pairs=False))


class Talk:
    """A session that a scripted model reads; the requests of one call are settled and stored one after the other."""

    def __init__(self) -> None:
        self.store, self.said = InMemoryStore(), 0
        self.ports = ports_of(self.store)

    def hear(self, *turns: str, answer: Sequence[dict[str, Any]]) -> list[Draft]:
        def answering(request: ModelRequest) -> str:
            return json.dumps({"memories": [_with_shown(each, request) for each in answer]})

        ports = replace(self.ports, model=ScriptedModel(answering))
        extracted = flow.extract([self._draft(text) for text in turns], ports)
        return [self._stored(each, ports) for each in extracted]

    def _draft(self, text: str) -> Draft:
        source = turn(text, position=self.said, day=self.said)
        self.said += 1
        return Draft.start(request=self._request(source), policy=POLICY)

    def _request(self, source: SourceTurn) -> Request:
        return Request(trace_id=UUID(int=100 + self.said), origin=ORIGIN, turns=(source,))

    def _stored(self, draft: Draft, ports: Ports) -> Draft:
        settled = flow.settle(draft, ports)
        self.store.apply(draft=settled, plan=plan_from(settled))
        return settled

    def contents(self, status: Status = Status.ACTIVE) -> list[str]:
        kept = self.store.state(end_user_id=ORIGIN.end_user_id).memories.values()
        return [each.memory.content for each in kept if each.memory.status is status]


def _with_shown(proposed: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
    """Replace the sentence of a known memory by the id under which the prompt shows it."""
    lines = [line.split(" | ") for line in request.context.splitlines() if line.startswith("m")]
    ids = {line[-1]: line[0] for line in lines}
    named = {key: [ids.get(each, each) for each in proposed.get(key, ())] for key in ("replaces", "contradicts")}
    return {**proposed, **named, "same_as": ids.get(proposed.get("same_as", ""), proposed.get("same_as"))}


PARTY = memory("User's party is on 1 June 2026.", evidence="party on 1 June", type="event", predicate="has_party")
MOVED = memory("User's party is on 8 June 2026.", evidence="the 8th instead", type="event", predicate="throws_party")


@pytest.mark.parametrize(
    "turns", [("My party on 1 June. No, the 8th instead.",), ("My party on 1 June.", "No, the 8th instead.")]
)
def test_an_answer_may_replace_what_it_says_itself_before(turns: tuple[str, ...]) -> None:
    talk = Talk()
    talk.hear(*turns, answer=[PARTY, {**MOVED, "replaces": ["a1"]}])
    assert talk.contents() == ["User's party is on 8 June 2026."]
    assert talk.contents(Status.SUPERSEDED) == ["User's party is on 1 June 2026."]


def test_to_replace_a_repetition_is_to_replace_what_it_repeats() -> None:
    talk = Talk()
    talk.hear("My party on 1 June.", answer=[PARTY])
    again = {**PARTY, "same_as": PARTY["content"]}
    talk.hear("My party on 1 June.", "No, the 8th instead.", answer=[again, {**MOVED, "replaces": ["a1"]}])
    assert talk.contents() == ["User's party is on 8 June 2026."]


def test_a_refused_proposal_is_named_in_the_trace_with_its_reason() -> None:
    talk = Talk()
    lena = memory(
        "Lena lives in York.", evidence="Lena is in York", subject="Lena", subject_type="person", value="York"
    )
    talk.hear("Lena is in York.", answer=[lena])
    tom = memory("Tom left for Rome.", evidence="Tom left for Rome", subject="Tom", subject_type="person", value="Rome")
    (draft,) = talk.hear("Tom left for Rome.", answer=[{**tom, "replaces": ["Lena lives in York."]}])
    assert sorted(talk.contents()) == ["Lena lives in York.", "Tom left for Rome."]
    (span,) = [span for span in draft.spans if span.stage is Stage.DEDUPE]
    ((refused,),) = span.details["refused_proposals"].values()
    assert (refused["proposal"], refused["reason"]) == ("replaces", "other_subject")
    assert Reason.PROPOSAL_REFUSED in report_of(draft).outcomes[-1]["reason"]


def test_a_thing_of_the_user_may_replace_what_is_said_of_the_user() -> None:
    talk = Talk()
    talk.hear("I drive a Fabia.", answer=[memory("User drives a Fabia.", evidence="I drive a Fabia", value="Fabia")])
    sold = memory("User's Fabia was sold.", evidence="The Fabia was sold", subject="Fabia", subject_type="product")
    talk.hear("The Fabia was sold.", answer=[{**sold, "replaces": ["User drives a Fabia."]}])
    assert talk.contents() == ["User's Fabia was sold."]


def _caterer(content: str, *, name: str, evidence: str, polarity: str = "positive") -> dict[str, Any]:
    served = {"entity": name, "entity_type": "organisation"}
    return memory(content, evidence=evidence, predicate="jubilee_caterer", object=served, polarity=polarity)


OLIVE_OFF = _caterer(
    "Olive Spoon no longer cooks for User's jubilee.",
    name="Olive Spoon",
    evidence="Olive Spoon is out",
    polarity="negative",
)


def test_what_is_denied_of_one_name_stays_true_when_another_takes_its_place() -> None:
    talk = Talk()
    talk.hear("Olive Spoon is out.", answer=[OLIVE_OFF])
    rye = _caterer("Rye & Roots cooks for User's jubilee.", name="Rye & Roots", evidence="Rye & Roots does the food")
    talk.hear("Rye & Roots does the food.", answer=[{**rye, "replaces": [OLIVE_OFF["content"]]}])
    assert sorted(talk.contents()) == [OLIVE_OFF["content"], rye["content"]]


def _scan(content: str, *, day: str, evidence: str) -> dict[str, Any]:
    return memory(content, evidence=evidence, type="event", predicate="has_scan", event_at=day)


@pytest.mark.parametrize(
    ("first", "is_kept"),
    [
        ("User's scan on 3 June 2026 was cancelled.", True),
        ("User's scan is on 3 June 2026.", False),
        ("User's scan on 10 June 2026 was cancelled.", False),
    ],
)
def test_a_cancelled_event_stays_true_beside_one_on_another_day(first: str, is_kept: bool) -> None:
    talk = Talk()
    old_day = "2026-06-10" if "10 June" in first else "2026-06-03"
    talk.hear("About the scan.", answer=[_scan(first, day=old_day, evidence="About the scan")])
    new = _scan("User's scan is on 10 June 2026.", day="2026-06-10", evidence="The scan is on the 10th")
    talk.hear("The scan is on the 10th.", answer=[{**new, "replaces": [first]}])
    assert (first in talk.contents()) is is_kept


def test_what_is_denied_of_a_name_ends_when_it_is_affirmed_of_it() -> None:
    talk = Talk()
    talk.hear("Olive Spoon is out.", answer=[OLIVE_OFF])
    back = _caterer("Olive Spoon cooks for User's jubilee.", name="Olive Spoon", evidence="Olive Spoon is back")
    talk.hear("Olive Spoon is back.", answer=[{**back, "replaces": [OLIVE_OFF["content"]]}])
    assert talk.contents() == [back["content"]]


def test_what_says_the_same_word_for_word_repeats_what_it_is_said_to_replace() -> None:
    talk = Talk()
    loft = memory("User's loft is heated with pellets.", evidence="pellets heat the loft", value="pellets")
    talk.hear("Since May pellets heat the loft.", answer=[loft])
    talk.hear("As I said, pellets heat the loft.", answer=[{**loft, "replaces": [loft["content"]]}])
    assert talk.contents() == [loft["content"]]
    assert talk.contents(Status.SUPERSEDED) == []


@pytest.mark.parametrize(
    ("known", "again", "kept"),
    [
        ("User is allergic to latex.", "User is allergic to latex, so no latex for User.", "again"),
        ("User's rent is 900 euros.", "User's rent is at most 900 euros.", "again"),
        ("User is allergic to latex, so no latex for User.", "User is allergic to latex.", "known"),
        ("User is allergic to latex.", "User is not allergic to latex.", "known"),
    ],
)
def test_a_repeat_that_adds_to_the_known_wording_brings_its_own(known: str, again: str, kept: str) -> None:
    talk = Talk()
    talk.hear("Latex, 900 euros.", answer=[memory(known, evidence="Latex, 900 euros", value="x")])
    repeat = memory(again, evidence="900 euros, latex", value="x")
    talk.hear("900 euros, latex.", answer=[{**repeat, "same_as": known}])
    assert talk.contents() == [again if kept == "again" else known]


YORK = memory("Lena, User's sister, lives in York.", evidence="Lena is in York", subject="Lena", predicate="lives_in")


def test_an_apposition_says_who_somebody_is() -> None:
    talk = Talk()
    talk.hear("Lena is in York.", answer=[YORK])
    (later,) = talk.hear(
        "My sister likes tea.",
        answer=[memory("User's sister likes tea.", evidence="My sister likes tea", subject="User's sister")],
    )
    assert later.new_entities == ()


def test_a_temporary_stay_leaves_the_home() -> None:
    talk = Talk()
    home = memory("User lives in Bonn.", evidence="I live in Bonn", predicate="lives_in", value="Bonn")
    stay = memory(
        "User lives at Ivo's until May 2031.", evidence="I live at Ivo's until May", predicate="lives_in", value="Ivo's"
    )
    talk.hear("I live in Bonn.", answer=[home])
    talk.hear("I live at Ivo's until May.", answer=[{**stay, "valid_until": "2031-05"}])
    assert sorted(talk.contents()) == ["User lives at Ivo's until May 2031.", "User lives in Bonn."]


def test_what_only_names_a_tie_goes_with_it() -> None:
    """A model that says which lines are over by a separation names those that mention it in passing as well."""
    ben = {"subject": "Ben", "subject_type": "person"}
    tie = memory("Ben is User's boyfriend.", evidence="Ben, my boyfriend", predicate="has_boyfriend", value="Ben")
    cook = memory(
        "Ben, User's boyfriend, is a cook.", evidence="is a cook", predicate="works_as", value="a cook", **ben
    )
    home = memory("Ben, User's boyfriend, lives in Hull.", evidence="lives in Hull", value="Hull", **ben)
    shift = memory("Ben, User's boyfriend, never eats fish.", evidence="eats no fish", predicate="avoids", **ben)
    talk = Talk()
    talk.hear("Ben, my boyfriend, is a cook, lives in Hull and eats no fish.", answer=[tie, cook, home, shift])
    parted = memory("User and Ben have split up.", evidence="Ben and me split up", type="event")
    named = [each["content"] for each in (tie, cook, home)]
    talk.hear("Ben and me split up.", answer=[{**parted, "replaces": named}])
    assert sorted(talk.contents()) == [shift["content"], parted["content"]]
