"""`check_workers` sees workers that make no progress, and ends their cluster."""

import socket
import subprocess
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.outbox.models import UserLease, WorkerHeartbeat
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.instance import PATIENCE
from tests.outbox.outbox_factories import add_work, make_user

pytestmark = pytest.mark.django_db


def seen(*, seconds_ago: float, is_working: bool = False, host: str = "") -> None:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    WorkerHeartbeat.objects.create(
        worker=new_id(), host=host or socket.gethostname(), pid=1, seen_at=at, is_working=is_working
    )


def let_work_wait(project: Project, *, seconds: float) -> None:
    user = make_user(project)
    add_work(project, user)
    UserLease.objects.filter(pk=user).update(ready_at=timezone.now() - timedelta(seconds=seconds))


def test_idle_workers_are_fine_while_nothing_waits(project: Project) -> None:
    seen(seconds_ago=70)
    let_work_wait(project, seconds=2)
    call_command("check_workers")


def test_workers_at_work_are_fine_however_much_waits(project: Project) -> None:
    seen(seconds_ago=4, is_working=True)
    let_work_wait(project, seconds=500)
    call_command("check_workers")


@pytest.mark.parametrize("host", ["", "another host"])
def test_workers_are_stuck_that_leave_work_waiting(project: Project, host: str) -> None:
    seen(seconds_ago=70)
    seen(seconds_ago=70 if not host else 1, is_working=True, host=host)
    let_work_wait(project, seconds=30)
    with pytest.raises(CommandError, match="no progress"):
        call_command("check_workers")


def test_workers_are_stuck_that_were_not_seen_for_long() -> None:
    seen(seconds_ago=200)
    with pytest.raises(CommandError, match="no progress"):
        call_command("check_workers")
    call_command("check_workers", "--seconds", "300")


@pytest.mark.parametrize("command", ["echo; exec sleep 600", "sleep 600 & echo; wait $!"])
def test_a_stuck_cluster_ends_with_and_without_its_sentinel(command: str) -> None:
    with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE) as cluster:
        assert cluster.stdout
        cluster.stdout.readline()  # now its child is there
        with pytest.raises(CommandError):
            call_command("check_workers", "--end", str(cluster.pid))
        assert cluster.wait(timeout=PATIENCE) != 0
