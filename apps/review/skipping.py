"""What a reviewer has skipped: it waits at the end of the reviewer's own queue, until the login session ends."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, IntegerField, UUIDField, Value
from django.http import HttpRequest

MOST_SKIPPED = 500  # the oldest ones return to their places
_KEY = "skipped"


def skipped_by(request: HttpRequest) -> list[UUID]:
    """Return the memories and pairs that the reviewer has skipped, the latest last."""
    return [UUID(each) for each in request.session.get(_KEY, [])]


def place_among(skipped: Sequence[UUID]) -> Func:
    """Return the SQL expression of a row's place among those that were skipped, from 1; null for all others."""
    ids = Value(list(skipped), ArrayField(UUIDField()))
    return Func(ids, F("id"), function="array_position", output_field=IntegerField())


def skip(request: HttpRequest, ids: Sequence[UUID]) -> None:
    """Put memories or pairs at the end of the reviewer's queue."""
    request.session[_KEY] = [*_without(request, ids), *map(str, ids)][-MOST_SKIPPED:]


def bring_back(request: HttpRequest, ids: Sequence[UUID]) -> None:
    """Return skipped memories or pairs to their places in the queue."""
    request.session[_KEY] = _without(request, ids)


def _without(request: HttpRequest, ids: Sequence[UUID]) -> list[str]:
    gone = set(map(str, ids))
    return [each for each in request.session.get(_KEY, []) if each not in gone]
