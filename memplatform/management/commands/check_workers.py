"""Say whether the workers of this host make progress, so that systemd, compose or Kubernetes restart a cluster."""

import socket
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

import psutil
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.db.models.functions import Now

from apps.outbox.models import UserLease, WorkerHeartbeat
from apps.tenants.system_scope import SystemWork, system_scope

LATE = timedelta(seconds=20)  # for work that is ready, while no worker works


class Command(BaseCommand):
    """Look for heartbeats: a worker at work has one, and a schedule lets one look for work every minute.

    A worker of django-q2 that is killed while it waits for a task leaves the lock of the task queue taken. Then the
    processes are alive, but none gets a task.
    """

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=int, default=180, help="how old the last heartbeat may be (default 180)")
        parser.add_argument("--end", type=int, metavar="PID", help="end this cluster if it makes no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit with an error if the workers are stuck; a database that is away is no fault of theirs."""
        longest = timedelta(seconds=options["seconds"])
        mine = WorkerHeartbeat.objects.filter(host=socket.gethostname())
        ready = UserLease.objects.filter(
            ready_at__lt=Now() - LATE, waits_for="", lease_token=None, project__archived_at=None
        )
        try:
            with system_scope(SystemWork.HEALTH):
                are_stuck = not mine.filter(seen_at__gte=Now() - longest).exists()
                if not are_stuck and ready.exists():
                    are_stuck = not mine.filter(is_working=True, seen_at__gte=Now() - LATE).exists()
        except DatabaseError as error:
            self.stdout.write(f"the database does not answer: {error}")
            return
        if not are_stuck:
            self.stdout.write("the workers make progress")
            return
        if options["end"]:
            cluster = psutil.Process(options["end"])
            for process in cluster.children() or [cluster]:
                process.kill()  # with its sentinel, the others end: they give back their work
        raise CommandError("the workers of this host make no progress")
