"""The choice of the next work: a decision table."""

from dataclasses import replace

import pytest

from apps.outbox.scheduling import NextWork, next_work
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.identifiers import new_id

MONDAY, TUESDAY = new_id(), new_id()


def run(number: int, session: object = MONDAY, *, attempts: int = 0, due: bool = True, turns: int = 1) -> NextWork:
    work = NextWork(id=number, kind=WorkKind.RUN_PIPELINE, subject_id=new_id(), attempts=attempts, is_due=due)
    return replace(work, session_id=session, turn_count=turns)


def index(number: int, *, attempts: int = 0, due: bool = True) -> NextWork:
    return NextWork(id=number, kind=WorkKind.INDEX_MEMORY, subject_id=new_id(), attempts=attempts, is_due=due)


@pytest.mark.parametrize(
    ("open_work", "chosen"),
    [
        pytest.param([], [], id="no open work"),
        pytest.param([run(1), run(2), run(3)], [1, 2, 3], id="runs of one session go together"),
        pytest.param(
            [run(1), run(2, TUESDAY), run(3)], [1], id="another session in between ends it: order comes first"
        ),
        pytest.param([run(n) for n in range(1, 7)], [1, 2, 3, 4], id="as many as may share a model call"),
        pytest.param([run(1, attempts=1), run(2)], [1], id="what was tried before goes alone"),
        pytest.param([run(1), run(2, attempts=1), run(3)], [1], id="and is not taken along"),
        pytest.param([run(1, due=False), run(2)], [], id="behind a run that waits, later runs wait"),
        pytest.param([run(1), run(2, due=False), run(3)], [1], id="up to one that waits"),
        pytest.param([run(2), index(1)], [2], id="runs come before index work"),
        pytest.param([run(1, due=False), index(2)], [2], id="index work needs not wait for runs"),
        pytest.param([index(n) for n in range(1, 7)], [1, 2, 3, 4, 5, 6], id="all index work goes together"),
        pytest.param([index(1, due=False), index(2)], [2], id="index work has no order"),
        pytest.param([index(1, attempts=1), index(2)], [1], id="index work that was tried before goes alone"),
        pytest.param([index(1), index(2, attempts=2), index(3)], [1], id="nor is that taken along"),
        pytest.param([index(1, due=False)], [], id="nothing is due"),
        pytest.param([run(1, None), run(2, None)], [1, 2], id="no session is a session too"),
        pytest.param([run(1, turns=60), run(2, turns=40), run(3)], [1, 2], id="as many turns as one request may have"),
        pytest.param([run(1, turns=60), run(2, turns=41), run(3)], [1], id="the order stays"),
        pytest.param([run(1, turns=101), run(2)], [1], id="one run at least"),
    ],
)
def test_next_work(open_work: list[NextWork], chosen: list[int]) -> None:
    assert [work.id for work in next_work(open_work, runs=4)] == chosen
