"""What a rollback took back is not known to the replay of a later trace."""

import pytest

from apps.tenants.models import Project
from tests.tuning.replays.replay_helper import differences, replay_of, replayed, stored
from tests.tuning.rollbacks.teller import Teller, roll_back

pytestmark = pytest.mark.django_db


def test_a_later_trace_replays_without_a_difference(project: Project) -> None:
    ana = Teller(project)
    ana.tells("I live in Lisbon.", day=2)
    taken_back = ana.tells("My sister Lena works as a nurse.", day=3)
    roll_back(project, taken_back)
    later = ana.tells("My sister Lena lives in Graz.", day=4)

    runs, replay = replay_of(ana.id, traces=[later])

    assert (len(runs), differences(runs)) == (1, [])
    assert replayed(replay) == stored(ana.id)
