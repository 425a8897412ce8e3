"""The settings of the database connection, from addresses and limits."""

from collections.abc import Mapping
from typing import Any

ENGINE = "django.db.backends.postgresql"
CONNECT_SECONDS = 10  # to open a connection
POOL_SECONDS = 5  # to get a connection from the pool; after that the database counts as away
UNACKNOWLEDGED_MS = 30_000  # until a connection counts as dead whose other end confirms nothing that was sent


def connection_options(*, given: Mapping[str, Any], is_prepared: bool, pool_size: int) -> dict[str, Any]:
    """Return Django's OPTIONS: ours, and on top what the address asks for (sslmode, options, application_name …).

    Parameters are bound by the server with and without prepared statements: SQL of ours relies on their types, and
    statements of other clients of a pooler can't be mistaken for ours.
    """
    ours: dict[str, Any] = {
        "server_side_binding": True,
        "prepare_threshold": 3 if is_prepared else None,
        "connect_timeout": CONNECT_SECONDS,
        "tcp_user_timeout": UNACKNOWLEDGED_MS,
        "application_name": "memplatform",
    }
    pool = {"pool": {"min_size": 1, "max_size": pool_size, "timeout": POOL_SECONDS}} if pool_size else {}
    return {**ours, **given, **pool}


def database(*, address: Mapping[str, Any], is_prepared: bool, pool_size: int) -> dict[str, Any]:
    """Return Django's settings of a database; its OPTIONS are made from those of its address."""
    made = connection_options(given=address.get("OPTIONS", {}), is_prepared=is_prepared, pool_size=pool_size)
    return {**address, "ENGINE": ENGINE, "OPTIONS": made, "DISABLE_SERVER_SIDE_CURSORS": not is_prepared}


def limited(options: Mapping[str, Any], *, statement_seconds: float, lock_seconds: float) -> dict[str, Any]:
    """Return options under which the server cancels statements that take or wait for too long; 0: no limit.

    Limits in the `options` of the address take precedence.
    """
    limits = f"-c statement_timeout={_milliseconds(statement_seconds)} -c lock_timeout={_milliseconds(lock_seconds)}"
    return {**options, "options": f"{limits} {options.get('options', '')}".strip()}


def local_limits(*, statement_seconds: float, lock_seconds: float) -> dict[str, str]:
    """Return the limits as settings of one transaction, for poolers, which don't pass `options` on."""
    return {"statement_timeout": _milliseconds(statement_seconds), "lock_timeout": _milliseconds(lock_seconds)}


def _milliseconds(seconds: float) -> str:
    return str(round(seconds * 1_000))
