"""The judge of duplicates: do two statements about one person say the same?"""

from collections.abc import Sequence
from enum import StrEnum

from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.prompts.judge_questions import judge_request

TASK = """
<task>
Each question holds two statements that a memory keeps about one person's world. Decide whether one of them can be
dropped because the other says it too.
</task>
<rules>
same: both say one thing, perhaps in other words, in another order or in more detail.
different: they differ in a number, date, name, place, unit, negation, in who does what, in whether something is, was,
may be or is only wished for, or in any fact of their own.
unsure: you can't tell. Prefer this to a guess: a lost statement never comes back.
</rules>
<examples>
<one>Ana works as a nurse.</one><two>Ana is employed as a nurse.</two> same
<one>Ana ran the race in May.</one><two>Ana ran the race in June.</two> different
<one>Ana smokes.</one><two>Ana used to smoke.</two> different
</examples>
"""


class DuplicateVerdict(StrEnum):
    """What the judge may answer."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"


def render(*, pairs: Sequence[tuple[str, str]], model: str = "") -> ModelRequest:
    """Return the request for some pairs of statements."""
    questions = [{"one": one, "two": two} for one, two in pairs]
    return judge_request(purpose=Purpose.JUDGE_DUPLICATES, task=TASK, questions=questions, model=model)
