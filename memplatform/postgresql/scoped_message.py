"""Send a statement and, before it, the one that sets its scope, in one message.

PostgreSQL runs both in one implicit transaction. psycopg's own pipeline mode does the same, but sends each statement
by itself and waits for the network in between, which costs five times as many instructions.
docs/decisions/row-level-security.md lists what is used of psycopg beyond its documented interface.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from psycopg._preparing import Prepare
from psycopg.generators import fetch_many, send
from psycopg.postgres import types
from psycopg.pq import ConnStatus, ExecStatus

Limits = tuple[tuple[str, str], ...]  # names and values of settings
_TEXT = types["text"].oid


@dataclass(frozen=True, slots=True)
class ScopeStatement:
    """A statement that sets the scope; its parameters are role, project and end user, as texts.

    psycopg's cache of prepared statements reads `query` and `types`.
    """

    query: bytes
    types: tuple[int, ...] = (_TEXT, _TEXT, _TEXT)


@cache
def scope_query(limits: Limits, *, placeholders: tuple[str, str, str]) -> str:
    """Return SQL that sets role, project and end user, each by its placeholder, and the limits."""
    values = dict(zip(("role", "memplatform.project", "memplatform.end_user"), placeholders, strict=True))
    values |= {name: f"'{value}'" for name, value in limits}
    return "select " + ", ".join(f"set_config('{name}', {value}, true)" for name, value in values.items())


@cache
def scope_statement(limits: Limits) -> ScopeStatement:
    """Return the statement that sets the scope and the limits."""
    return ScopeStatement(scope_query(limits, placeholders=("$1", "$2", "$3")).encode())


@dataclass(slots=True)
class _Part:
    """A statement of the message, whether and under which name it is prepared, and what was answered."""

    statement: Any
    prepare: Prepare
    name: bytes
    answers: list[Any] = field(default_factory=list)


def run_after_scope(
    *,
    cursor: Any,
    statement: Any,
    scope: ScopeStatement,
    settings: Sequence[bytes],
    prepare: bool | None,
    binary: bool | None,
) -> Generator[Any, Any, None]:
    """Run a converted statement of a cursor after `scope` with its parameters; to be waited for as psycopg does.

    The connection must be outside of transactions and pipelines. Raises what psycopg raises, of the first that fails.
    """
    prepared, pgconn = cursor.connection._prepared, cursor.connection.pgconn
    first = _Part(scope, *prepared.get(scope, True))  # prepared at once, if the connection prepares at all
    second = _Part(statement, *cursor._get_prepared(statement, prepare))
    pgconn.enter_pipeline_mode()
    try:
        _send_scope(pgconn, first, settings)
        _send_statement(cursor, second, binary)
        pgconn.pipeline_sync()
        yield from send(pgconn)
        for part in (first, second):
            for _ in range(2 if part.prepare is Prepare.SHOULD else 1):
                part.answers += yield from fetch_many(pgconn)
        # The transaction ends with the message: a deferred constraint that is violated is told before its last answer.
        while (ends := (yield from fetch_many(pgconn)))[-1].status != ExecStatus.PIPELINE_SYNC:
            second.answers += ends
    finally:
        if pgconn.status != ConnStatus.BAD:
            pgconn.exit_pipeline_mode()
    for part in (first, second):
        _note_prepared(cursor, part)
    cursor._check_results([*first.answers, *second.answers])
    cursor._set_results(second.answers[-1:])


def _send_scope(pgconn: Any, part: _Part, settings: Sequence[bytes]) -> None:
    scope = part.statement
    if part.prepare is Prepare.NO:
        pgconn.send_query_params(scope.query, settings, param_types=scope.types)
        return
    if part.prepare is Prepare.SHOULD:
        pgconn.send_prepare(part.name, scope.query, param_types=scope.types)
    pgconn.send_query_prepared(part.name, settings)


def _send_statement(cursor: Any, part: _Part, binary: bool | None) -> None:
    if part.prepare is Prepare.NO:
        cursor._execute_send(part.statement, force_extended=True, binary=binary)
        return
    if part.prepare is Prepare.SHOULD:
        cursor._send_prepare(part.name, part.statement)
    cursor._send_query_prepared(part.name, part.statement, binary=binary)


def _note_prepared(cursor: Any, part: _Part) -> None:
    """Note in psycopg's cache that a statement is prepared, however it ended.

    If preparing it failed, nothing is noted: the name would be used for ever.
    """
    if part.prepare is Prepare.SHOULD and part.answers[0].status != ExecStatus.COMMAND_OK:
        return
    prepared = cursor.connection._prepared
    key = prepared.maybe_add_to_cache(part.statement, part.prepare, part.name)
    if key is not None:
        prepared.validate(key, part.prepare, part.name, part.answers[-1:])
