"""Of two writers who know nothing of each other the database lets one be first; the other has to plan anew."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import IntegrityError, OperationalError

from apps.pipeline.core.ports import StalePlan

LIVE_ONCE = "memory_live_once"  # one live memory under a hash
ONE_USER = "entity_one_is_the_user"
_FIRST_COME = frozenset({LIVE_ONCE, ONE_USER})


@contextmanager
def stale_on_write_conflict() -> Iterator[None]:
    """Raise StalePlan where another has written meanwhile what there is but once, or each waited for the other."""
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.DeadlockDetected):
            raise
        raise StalePlan("somebody else was let go first") from error
    except IntegrityError as error:
        rule = _broken_by(error)
        if rule not in _FIRST_COME:
            raise
        raise StalePlan(f"somebody else was faster: {rule}") from error


def _broken_by(error: IntegrityError) -> str | None:
    return error.__cause__.diag.constraint_name if isinstance(error.__cause__, psycopg.Error) else None
