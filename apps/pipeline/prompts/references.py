"""The judge of references: which of several known people or things does a word of a turn mean?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.prompts.llm_judge import judge_request

TASK = Path(__file__).with_name("references.xml").read_text(encoding="utf-8")
_MOST_BEFORE = 4


@dataclass(frozen=True, slots=True)
class Reference:
    """A phrase that may mean any of some choices."""

    phrase: str
    turn: str
    before: tuple[str, ...]  # turns, oldest first
    choices: tuple[str, ...]


def render(*, references: Sequence[Reference], model: str = "") -> ModelRequest:
    """Return the request for some references."""
    questions: list[dict[str, str | Sequence[str]]] = [
        {
            "before": each.before[-_MOST_BEFORE:],
            "turn": each.turn,
            "phrase": each.phrase,
            "choice": [f"{number}: {choice}" for number, choice in enumerate(each.choices, start=1)],
        }
        for each in references
    ]
    return judge_request(purpose=Purpose.JUDGE_REFERENCES, task=TASK, questions=questions, model=model)


def choice_of(verdict: str, *, count: int) -> int | None:
    """Return the place of the chosen one, from 0, or None."""
    return int(verdict) - 1 if verdict.isascii() and verdict.isdigit() and 1 <= int(verdict) <= count else None
