"""Any traces rolled back leave what a store holds that never saw them, where nothing was built upon them."""

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from apps.pipeline.core.enums import Reason, TraceStatus
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.soak import few
from tests.tuning.rollbacks.teller import Teller, closed, names, roll_back, state, undo

pytestmark = pytest.mark.django_db
SAYINGS = (
    "I live in Kiel.",
    "I live in Bonn.",
    "I moved to Ulm.",
    "I no longer live in Bonn.",
    "I work at Acme.",
    "My sister is Nora.",
    "My sister Nora lives in Ghent.",
    "I like green tea.",
    "I really like green tea.",
    "I don't like green tea.",
)
TOLD = st.tuples(st.sampled_from(SAYINGS), st.booleans())


def was_dropped_beside_others(person: Teller) -> bool:
    """Return True if something that stands was not stored because of what else was known."""
    standing = Trace.objects.filter(end_user_id=person.id).exclude(status=TraceStatus.ROLLED_BACK)
    reasons = {line["reason"] for trace in standing for line in trace.outcomes}
    return not reasons.isdisjoint({Reason.DUPLICATE, Reason.WEAKER_EVIDENCE})


@settings(
    max_examples=few(),
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(told=st.lists(TOLD, min_size=1, max_size=5))
def test_as_if_never_said(project: Project, told: list[tuple[str, bool]]) -> None:
    """The second of each telling says whether it is rolled back.

    Each has a session of its own: whether a turn repeats another of its session is decided before the pipeline runs.
    """
    ana, bea = Teller(project, str(new_id())), Teller(project, str(new_id()))
    traces = []
    for day, (saying, is_taken_back) in enumerate(told, start=2):
        trace = ana.tells(saying, day=day, session=str(day))
        if is_taken_back:
            traces.append(trace)
        else:
            bea.tells(saying, day=day, session=str(day))
    assume(traces)
    before = state(ana), closed(ana), names(ana)

    rollback = roll_back(project, *traces)

    if not rollback.counts.get("left_alone") and not was_dropped_beside_others(ana):
        assert state(ana) == state(bea), told
        assert closed(ana) == closed(bea), told
    undo(rollback)
    assert (state(ana), closed(ana), names(ana)) == before, told
