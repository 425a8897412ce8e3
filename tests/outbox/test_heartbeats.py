"""Workers write heartbeats and delete them when they end."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.outbox.heartbeats import Heartbeat, alive
from apps.outbox.models import WorkerHeartbeat
from apps.pipeline.core.identifiers import new_id

pytestmark = pytest.mark.django_db
A_MINUTE = timedelta(minutes=1)


def test_a_beating_worker_is_alive_until_it_ends() -> None:
    heart = Heartbeat(worker=new_id(), every=0.0)
    assert heart.beat(done=3, in_flight=1)
    assert alive(within=A_MINUTE) == 1
    heartbeat = WorkerHeartbeat.objects.get()
    assert (heartbeat.done, heartbeat.in_flight) == (3, 1)
    heart.stop()
    assert alive(within=A_MINUTE) == 0


def test_it_beats_no_more_often_than_it_should() -> None:
    heart = Heartbeat(worker=new_id(), every=3600.0)
    assert heart.beat(done=0, in_flight=0)
    assert not heart.beat(done=0, in_flight=0)


def test_who_has_been_silent_is_not_alive_and_is_forgotten_after_a_day() -> None:
    silent = Heartbeat(worker=new_id(), every=0.0)
    silent.beat(done=0, in_flight=0)
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert alive(within=A_MINUTE) == 0
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - timedelta(days=2))
    Heartbeat(worker=new_id(), every=0.0).beat(done=0, in_flight=0)
    assert not WorkerHeartbeat.objects.filter(worker=silent.worker).exists()
