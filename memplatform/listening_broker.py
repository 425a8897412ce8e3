"""The queue of django-q2 in the database; its clusters are notified of tasks in place of asking five times a second."""

from select import select
from time import sleep
from typing import Any

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection, connections
from django_q.brokers.orm import ORM
from django_q.conf import Conf

CHANNEL = "memplatform_task"
POLL_SECONDS = 2.0  # for tasks whose lock has run out; a cluster that stops waits as long
POOLED_SECONDS = 0.2  # behind a pooler, which lends a connection per transaction, so that nobody would listen


class ListeningBroker(ORM):
    """django-q2's broker for the database, with PostgreSQL's LISTEN and NOTIFY; needs `poll` to be 0."""

    _listener: Any = None  # Django's wrapper of a connection of its own

    def enqueue(self, task: str) -> int:
        """Store a task and notify the clusters; return its key."""
        key: int = super().enqueue(task)
        with connection.cursor() as cursor:
            cursor.execute("select pg_notify(%s, '')", [CHANNEL])
        return key

    def dequeue(self) -> list[tuple[int, str]] | None:
        """Return tasks, or wait until there may be one, at most POLL_SECONDS."""
        found: list[tuple[int, str]] | None = super().dequeue()
        if found:
            return found
        if not settings.DB_PREPARE:
            sleep(POOLED_SECONDS)
            return None
        try:
            if self._listener is None:  # without waiting: a task may have come before
                self._listener = connections.create_connection(Conf.ORM)
                with self._listener.cursor() as cursor:
                    cursor.execute(f"listen {CHANNEL}")
            # psycopg itself would look ten times a second.
            elif select([self._listener.connection], [], [], POLL_SECONDS)[0]:
                next(self._listener.connection.notifies(timeout=0, stop_after=1), None)
        except (DatabaseError, psycopg.Error):
            self._listener = None
            sleep(POLL_SECONDS)
        return None
