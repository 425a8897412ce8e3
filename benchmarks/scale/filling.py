"""Fill a scratch database with end users of several sizes, as the product would have written them over 90 days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Model
from django.test import override_settings

from apps.memories.models import Memory
from apps.projects.services import create_project
from apps.tenants.models import EndUser, Project
from apps.traces.models import Turn
from apps.traces.tallies import MOST_HOURS, tally
from benchmarks.scale.copies import COPIED, EVERYTHING, MEMORIES, Copies, make_copies
from benchmarks.truth import RECORDED
from benchmarks.truth.gold import load
from benchmarks.truth.recorded_model import NAME as MODEL
from benchmarks.truth.recorded_model import RecordedAnswers, RecordedModel
from benchmarks.truth.replay import replay

ROUNDS = 4  # of the memories of a conversation: about a hundred memories per end user
SLUG = "scale"


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is: ordinary end users, and the memories of the largest one; `conversations`: 0 for all."""

    users: int
    large: int
    traces: int  # to which a retention period is applied
    searches: int
    requests: int
    days: int  # over which all of it was written
    conversations: int = 0


SMALL = Size(users=400, large=10_000, traces=10_000, searches=200, requests=60, days=14)
FULL = Size(users=9_500, large=100_000, traces=250_000, searches=1_000, requests=300, days=90)


@dataclass(frozen=True, slots=True)
class Filled:
    """The project and its end users."""

    project: Project
    originals: list[UUID]
    users: list[UUID]
    large: UUID


def fill(size: Size) -> Filled:
    """Fill the database; ordinary end users hold about a hundred memories each."""
    project = create_project(name="Scale", slug=SLUG)
    originals, over = _posted(project, size.conversations), timedelta(days=size.days)
    names = [f"user-{number}" for number in range(size.users)]
    users = make_copies(project, Copies(originals, names, rounds=ROUNDS, repeated=MEMORIES, over=over))
    first = originals[:1]
    rounds = -(-size.large // Memory.objects.filter(end_user=first[0]).count())
    (large,) = make_copies(project, Copies(first, ["large"], rounds=rounds, repeated=EVERYTHING, over=over))
    with connection.cursor() as cursor:
        cursor.execute("vacuum analyze")
        cursor.execute("checkpoint")
    while tally(settled_after=timedelta()) >= MOST_HOURS:
        pass  # the next hours
    return Filled(project=project, originals=originals, users=users, large=large)


def bytes_per_turn(originals: Sequence[UUID]) -> float:
    """Return the bytes, with indexes, of all rows that the product wrote for a turn of the originals.

    The size of a row is that in the full tables. Finished work is counted, though it is deleted after a week.
    """
    size = sum(_row_bytes(model) * _rows(model, originals) for model in COPIED)
    return size / max(_rows(Turn, originals), 1)


def _rows(model: type[Model], users: Sequence[UUID]) -> int:
    return int(model._default_manager.filter(end_user_id__in=users).count())


def _row_bytes(model: type[Model]) -> float:
    with connection.cursor() as cursor:
        cursor.execute("select pg_total_relation_size(%s::regclass)", [model._meta.db_table])
        (size,) = cursor.fetchone()
    return float(size) / max(int(model._default_manager.count()), 1)


def _posted(project: Project, number: int) -> list[UUID]:
    """Post recorded conversations; return their end users."""
    conversations = load()[: number or None]
    with override_settings(MODEL=MODEL):
        for each in conversations:
            answers = RecordedAnswers.read(RECORDED / f"{each.name}.jsonl")
            replay(each, project=project, model=RecordedModel(turns=each.turns, answers=answers))
    return list(EndUser.objects.filter(project=project).order_by("external_id").values_list("id", flat=True))
