"""An action in a thread with its own connection, which pauses before a chosen statement."""

import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import connection

PATIENCE = 120.0  # maximum of seconds for any step


class Aside:
    """An action in a thread of its own.

    With `pause_before`, it pauses before its statement with that number (from 0) until it may continue. `run` starts it
    and returns when it has ended, is paused, or waits for a lock.
    """

    def __init__(self, do: Callable[[], Any], *, pause_before: int | None = None) -> None:
        self._do, self._pause_before = do, pause_before
        self._may_go_on, self._settled = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._backend = 0
        self.statements: list[str] = []
        self.result: Any = None
        self.error: Exception | None = None

    def run(self) -> "Aside":
        self._thread.start()
        deadline = time.monotonic() + PATIENCE
        while not self._settled.wait(0.005) and not self._waits_for_a_lock():
            assert time.monotonic() < deadline, "neither ended nor blocked"
        return self

    def end(self) -> "Aside":
        """Let it continue until it ends."""
        self._may_go_on.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), f"stuck in {self.statements[-1:]}"
        return self

    def _run(self) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("select pg_backend_pid()")
                self._backend = cursor.fetchone()[0]
            with connection.execute_wrapper(self._watch):
                self.result = self._do()
        except Exception as error:  # noqa: BLE001  (handed to the test, which says what it expects)
            self.error = error
        finally:
            connection.close()
            self._settled.set()

    def _watch(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if len(self.statements) == self._pause_before:
            self._settled.set()
            assert self._may_go_on.wait(PATIENCE)
        self.statements.append(sql)
        return execute(sql, params, many, context)

    def _waits_for_a_lock(self) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("select cardinality(pg_blocking_pids(%s)) > 0", [self._backend])
            return bool(cursor.fetchone()[0])
