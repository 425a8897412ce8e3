"""Heartbeats of workers, from which the health checks see whether any worker is alive."""

import os
import socket
import time
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models.functions import Now

from apps.outbox.models import WorkerHeartbeat

FORGET_AFTER = timedelta(days=1)


@dataclass(slots=True)
class Heartbeat:
    """The heartbeat of one worker, written at most once every `every` seconds and deleted when the worker stops."""

    worker: UUID
    every: float
    last: float = float("-inf")

    def beat(self, *, done: int, in_flight: int) -> bool:
        """Write the heartbeat if it is due; return True if it was."""
        now = time.monotonic()
        if now - self.last < self.every:
            return False
        self.last = now
        values = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "done": done,
            "in_flight": in_flight,
            "seen_at": Now(),
        }
        WorkerHeartbeat.objects.update_or_create(worker=self.worker, defaults=values)
        WorkerHeartbeat.objects.filter(seen_at__lt=Now() - FORGET_AFTER).delete()
        return True

    def stop(self) -> None:
        """Delete the heartbeat: the worker has stopped."""
        WorkerHeartbeat.objects.filter(worker=self.worker).delete()


def alive(*, within: timedelta) -> int:
    """Count the workers whose last heartbeat is at most this old."""
    return WorkerHeartbeat.objects.filter(seen_at__gte=Now() - within).count()
