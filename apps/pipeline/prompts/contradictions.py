"""The judge of contradictions: can two statements about one person both be true at one time?"""

from collections.abc import Sequence
from enum import StrEnum

from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.prompts.judge_questions import judge_request

TASK = """
<task>
Each question holds an earlier and a later statement about one person's world. Decide whether both can be true at once.
</task>
<rules>
incompatible: if one is true the other can't be, as they are told.
compatible: both can be true, also when they are about different things, times or people.
unsure: you can't tell. A person looks at what is incompatible, so don't call it that for a mere change of mood.
</rules>
<examples>
<earlier>Ana likes all cheese.</earlier><later>Ana can't stand cheese.</later> incompatible
<earlier>Ana likes cheese.</earlier><later>Ana likes wine.</later> compatible
<earlier>Ana ran in May.</earlier><later>Ana did not run in June.</later> compatible
</examples>
"""


class ContradictionVerdict(StrEnum):
    """What the judge may answer."""

    INCOMPATIBLE = "incompatible"
    COMPATIBLE = "compatible"
    UNSURE = "unsure"


def render(*, pairs: Sequence[tuple[str, str]], model: str = "") -> ModelRequest:
    """Return the request for pairs of an earlier and a later statement."""
    questions = [{"earlier": earlier, "later": later} for earlier, later in pairs]
    return judge_request(purpose=Purpose.JUDGE_CONTRADICTIONS, task=TASK, questions=questions, model=model)
