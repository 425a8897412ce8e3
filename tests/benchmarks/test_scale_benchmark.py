"""Copies of an end user are what the product would have written: whole, connected within themselves, and searchable."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import ForeignKey
from django.utils import timezone

from apps.intake.accept import Submission, accept
from apps.memories.models import Memory
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.turn import NewTurn
from apps.providers.fake import HashingEmbedder
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import ranked
from apps.tenants.models import Project
from apps.traces.models import Span, Trace
from benchmarks.scale.copies import COPIED, EVERYTHING, MEMORIES, Copies, make_copies
from tests.console.filling import do_all

pytestmark = pytest.mark.django_db
SAID = ("I live in Lisbon.", "My sister Marta lives in Porto.", "thanks!", "I moved to Braga last month.")
OVER = timedelta(days=90)


@pytest.fixture
def original(project: Project) -> UUID:
    for text in SAID:
        turns = (NewTurn(role=Role.USER, content=text),)
        accept(submission=Submission(project.pk, None, "rui", "monday", turns))
    do_all(project)
    return Memory.objects.values_list("end_user_id", flat=True)[0]


@pytest.mark.parametrize(("repeated", "traces"), [(MEMORIES, 1), (EVERYTHING, 3)])
def test_copies_have_what_their_original_has(project, original, repeated, traces) -> None:
    copies = make_copies(project, Copies([original], ["one", "two"], rounds=3, repeated=repeated, over=OVER))
    for copy in copies:
        for model, times in ((Memory, 3), (Trace, traces), (Span, traces)):
            rows = model._default_manager.filter(end_user=copy)
            assert rows.count() == times * model._default_manager.filter(end_user=original).count() > 0
        query, policy = SearchQuery(text="where does Marta live"), RetrievalPolicy()
        embedder, now = HashingEmbedder(), timezone.now()
        with ranked(end_user_id=copy, query=query, embedder=embedder, policy=policy, now=now) as ranking:
            assert "lives in Porto" in ranking.results()[0].memory.content


def test_copies_refer_to_their_own_rows(project, original) -> None:
    make_copies(project, Copies([original], ["one"], rounds=2, repeated=EVERYTHING, over=OVER))
    for model in COPIED:
        for field in model._meta.concrete_fields:
            if isinstance(field, ForeignKey) and field.related_model in COPIED:
                assert _astray(model._meta.db_table, field) == 0, field


def test_what_was_written_within_seconds_is_spread_over_the_period(project, original) -> None:
    (copy,) = make_copies(project, Copies([original], ["one"], rounds=1, repeated=MEMORIES, over=OVER))
    times = Trace.objects.filter(end_user=copy).order_by("created_at").values_list("created_at", flat=True)
    assert OVER - timedelta(days=1) < times[len(times) - 1] - times[0] <= OVER + timedelta(days=1)


def _astray(table: str, field: ForeignKey) -> int:
    """Count the references to rows that are absent or of another end user."""
    target = field.related_model._meta
    with connection.cursor() as cursor:
        cursor.execute(
            f'select count(*) from {table} here left join {target.db_table} there on there."{target.pk.column}" ='
            f' here."{field.column}" where here."{field.column}" is not null'
            " and there.end_user_id is distinct from here.end_user_id"
        )
        return int(cursor.fetchone()[0])
