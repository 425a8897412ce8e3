"""The judge of pairs: what a later statement is to an earlier one that a memory keeps about the same person's world."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.prompts.llm_judge import judge_request

TASK = Path(__file__).with_name("memory_pairs.xml").read_text(encoding="utf-8")


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
