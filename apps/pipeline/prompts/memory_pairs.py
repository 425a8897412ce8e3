"""The judge of pairs: what a later statement is to an earlier one that a memory keeps about the same person's world."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.prompts.judge_questions import judge_request

TASK = """
<task>
Each question holds two statements that a memory keeps about one person's world, each with the day on which it was said.
Decide what the later statement is to the earlier one. Each is meant as it stands; its wording is not proof of a change.
</task>
<rules>
same: one can be dropped because the other says it too, perhaps in other words, less exactly or in more detail, as a
vague plan and its exact date.
replaces: the earlier one was true or planned, and is over because of the later one: a new value, a changed plan, an
event that was moved, cancelled or has happened, something given up, sold or finished, a correction.
contradicts: they can't both be right, and nothing says that something has changed in between.
both_hold: both stay true: other things, other people, another one of the same kind, a part of a place within
the whole, an earlier time that is over beside the present, or simply another fact.
unsure: you can't decide. Prefer this to a guess.
Statements that differ in a number, name, place, negation or in who does what are never the same.
</rules>
<examples>
<earlier>Ana works as a nurse.</earlier><later>Ana is employed as a nurse at St Ann's.</later> same
<earlier>Ana has eleven years of practice.</earlier><later>Ana has practised for twelve years.</later> replaces
<earlier>The audit is due in December.</earlier><later>The audit was moved to January.</later> replaces
<earlier>Ana has a car.</earlier><later>Ana sold the car.</later> replaces
<earlier>Ana likes all cheese.</earlier><later>Ana has never liked cheese.</later> contradicts
<earlier>Ana lives in Lyon.</earlier><later>Ana lives in Croix-Rousse, a part of Lyon.</later> both_hold
<earlier>Ana has a dog called Rex.</earlier><later>Ana has a cat.</later> both_hold
<earlier>Ana lives in Lyon.</earlier><later>Ana lived in Oslo in 2015.</later> both_hold
</examples>
"""


class PairVerdict(StrEnum):
    """What a later statement is to an earlier one."""

    SAME = "same"
    REPLACES = "replaces"
    CONTRADICTS = "contradicts"
    BOTH_HOLD = "both_hold"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class StatementPair:
    """Two statements with the moments at which they were said."""

    earlier: str
    earlier_said: datetime
    later: str
    later_said: datetime


def render(*, pairs: Sequence[StatementPair], model: str = "") -> ModelRequest:
    """Return the request for some pairs of statements."""
    questions = [
        {
            "earlier": f"({pair.earlier_said.date().isoformat()}) {pair.earlier}",
            "later": f"({pair.later_said.date().isoformat()}) {pair.later}",
        }
        for pair in pairs
    ]
    return judge_request(purpose=Purpose.JUDGE_PAIRS, task=TASK, questions=questions, model=model)
