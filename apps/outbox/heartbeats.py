"""Workers tell that they live, so that health can tell when none does."""

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
    """One worker's heart: beats at most once in `every` seconds, and is forgotten when the worker ends."""

    worker: UUID
    every: float
    last: float = float("-inf")

    def beat(self, *, done: int, in_flight: int) -> bool:
        """Tell that the worker lives, if it is time; return whether it was."""
        now = time.monotonic()
        if now - self.last < self.every:
            return False
        self.last = now
        told = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "done": done,
            "in_flight": in_flight,
            "seen_at": Now(),
        }
        WorkerHeartbeat.objects.update_or_create(worker=self.worker, defaults=told)
        WorkerHeartbeat.objects.filter(seen_at__lt=Now() - FORGET_AFTER).delete()
        return True

    def stop(self) -> None:
        """Say that the worker has ended in good order."""
        WorkerHeartbeat.objects.filter(worker=self.worker).delete()


def alive(*, within: timedelta) -> int:
    """Count workers that have told within a while that they live."""
    return WorkerHeartbeat.objects.filter(seen_at__gte=Now() - within).count()
