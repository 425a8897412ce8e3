"""Say whether the workers of this host make progress, so that systemd, compose or Kubernetes restart a cluster."""

import os
import signal
import socket
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.db.models.functions import Now

from apps.outbox.models import WorkerHeartbeat
from apps.tenants.system_scope import SystemWork, system_scope


class Command(BaseCommand):
    """Look for a heartbeat: a schedule lets a worker of the cluster look for work every minute.

    A worker of django-q2 that is killed while it waits for a task leaves the lock of the task queue taken. Then the
    processes are alive, but none gets a task.
    """

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=int, default=180, help="how old the last heartbeat may be (default 180)")
        parser.add_argument("--stop", type=int, metavar="PID", help="the process to stop if there is no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit with an error if no worker of this host was seen; a database that is away is no fault of theirs."""
        try:
            with system_scope(SystemWork.HEALTH):
                mine = WorkerHeartbeat.objects.filter(host=socket.gethostname())
                is_alive = mine.filter(seen_at__gte=Now() - timedelta(seconds=options["seconds"])).exists()
        except DatabaseError as error:
            self.stdout.write(f"the database does not answer: {error}")
            return
        if is_alive:
            self.stdout.write("the workers make progress")
            return
        if options["stop"]:
            os.kill(options["stop"], signal.SIGTERM)
        raise CommandError(f"no worker of this host was seen for {options['seconds']} seconds")
