"""Tell webhooks of events until a stop is requested: number what was committed, and deliver side by side."""

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from django.db import DatabaseError, connection

from apps.actions.webhooks.deliver_events import claim, deliver_claimed, number_all_events
from apps.worker.shutdown import STOPPING, StopSignal

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.25  # between two queries for events while idle
OUTAGE_SECONDS = 0.5  # between two attempts to reach the database while it is down
WEBHOOKS_AT_ONCE = 4


@dataclass
class EventSender:
    """One process that delivers: a receiver that hangs holds one of its threads, and no other webhook."""

    stop: StopSignal
    in_flight: set[Future[int]] = field(default_factory=set)

    def run(self, *, seconds: float) -> None:
        """Deliver for so long, then finish what was begun; deliveries that are due are claimed by the next process."""
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(WEBHOOKS_AT_ONCE, thread_name_prefix="webhooks") as threads:
            while not self.stop.is_set() and time.monotonic() < until:
                try:
                    self._begin(threads)
                except DatabaseError as error:
                    log.warning("database unavailable", error=str(error))
                    connection.close()
                    time.sleep(OUTAGE_SECONDS)  # there is no notification when it is back
                self._collect()

    def _begin(self, threads: ThreadPoolExecutor) -> None:
        number_all_events()
        for webhook_id, project_id in claim(most=WEBHOOKS_AT_ONCE - len(self.in_flight)):
            self.in_flight.add(threads.submit(copy_context().run, self._deliver, webhook_id, project_id))

    def _collect(self) -> None:
        if not self.in_flight:
            time.sleep(POLL_SECONDS)  # new events are found by polling
            return
        _, self.in_flight = wait(self.in_flight, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)

    def _deliver(self, webhook_id: UUID, project_id: UUID) -> int:
        try:
            return deliver_claimed(webhook_id, project_id, stop=self.stop.is_set)
        finally:
            connection.close()


def send_events(*, seconds: float) -> None:
    """Send events with the live ports for so long, or until the process is asked to stop."""
    EventSender(stop=STOPPING).run(seconds=seconds)
