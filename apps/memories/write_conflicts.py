"""Convert unique violations and deadlocks between concurrent writers to StalePlan, so that the caller plans again."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import IntegrityError, OperationalError

from apps.pipeline.core.ports import StalePlan

LIVE_ONCE = "memory_live_once"  # live memories of one end user have different hashes
ONE_USER = "entity_one_is_the_user"
_CONSTRAINTS = frozenset({LIVE_ONCE, ONE_USER})


@contextmanager
def stale_on_write_conflict() -> Iterator[None]:
    """Raise StalePlan for a deadlock, and for a violation of a constraint that only a concurrent writer can cause."""
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.DeadlockDetected):
            raise
        raise StalePlan("the transaction was the victim of a deadlock") from error
    except IntegrityError as error:
        violated = error.__cause__.diag.constraint_name if isinstance(error.__cause__, psycopg.Error) else None
        if violated not in _CONSTRAINTS:
            raise
        raise StalePlan(f"a concurrent writer was faster: {violated}") from error
