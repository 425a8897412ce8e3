"""Which statements of a piece of work touch more than one shard of a database distributed by Citus."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import connection

_TASKS = re.compile(r"Task Count: (\d+)")
_PLANNED = ("select", "insert", "update", "delete", "with")


@dataclass(frozen=True, slots=True)
class Explained:
    """A statement, and on how many shards its largest part runs; 0 for one without distributed tables.

    `refusal` is what Citus says where it can't plan the statement.
    """

    sql: str
    shards: int
    refusal: str = ""


@dataclass(slots=True)
class ShardWatch:
    """Explains each statement of the default connection beside it, by a connection of its own."""

    planner: psycopg.Connection[Any]
    seen: dict[str, Explained] = field(default_factory=dict)

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Explain a statement, then execute it."""
        if sql.lstrip("( \n").lower().startswith(_PLANNED):
            explained = self._explain(sql, params)
            former = self.seen.get(sql)
            if former is None or former.shards < explained.shards:
                self.seen[sql] = explained
        return execute(sql, params, many, context)

    def _explain(self, sql: str, params: Any) -> Explained:
        try:
            with psycopg.ClientCursor(self.planner) as cursor:
                lines = cursor.execute(f"explain {sql}", params).fetchall()
        except psycopg.Error as error:
            return Explained(sql, 0, str(error))
        counts = [int(found[1]) for (line,) in lines if (found := _TASKS.search(line))]
        return Explained(sql, max(counts, default=0))

    def refused(self) -> list[Explained]:
        """Return the statements that Citus can't plan."""
        return [each for each in self.seen.values() if each.refusal]

    def over_several_shards(self) -> list[Explained]:
        """Return the statements that touch more than one shard."""
        return [each for each in self.seen.values() if each.shards > 1]


@contextmanager
def shards_watched(url: str) -> Iterator[ShardWatch]:
    """Watch the statements of the default connection; `url` leads a superuser to the same database."""
    with psycopg.connect(url, autocommit=True) as planner:
        watch = ShardWatch(planner)
        with connection.execute_wrapper(watch):
            yield watch
