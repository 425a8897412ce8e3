"""However much was done before, the statements of the queue read what is open: their plans say so."""

from typing import Any

import pytest
from django.db import connection

from apps.actions.queue import prune as pruning
from apps.outbox import leases, processing
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.outbox.outbox_factories import make_user, owe
from tests.plans import indexes, plan, reads_of, rows_read

pytestmark = pytest.mark.django_db
PAST = 20_000


@pytest.fixture
def user(project: Project) -> Any:
    """A user with one open row and a long past."""
    user = make_user(project)
    values = {"user": user, "project": project.id, "past": PAST}
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into outbox_outboxrow (end_user_id, project_id, kind, subject_id, state, attempts, run_at,"
            " last_error, created_at, finished_at) select %(user)s, %(project)s, 'index_memory', gen_random_uuid(),"
            " 'done', 1, now(), '', now(), now() from generate_series(1, %(past)s)",
            values,
        )
        owe(project, user)
        cursor.execute("analyze outbox_outboxrow; analyze outbox_userlease")
    return user


def test_a_claim_reads_what_is_open(user: Any) -> None:
    nodes = plan(leases._CLAIM, {"token": new_id(), "limit": 10, "seconds": 60, "only": None})
    assert "work_open_of_user" in indexes(nodes)
    assert rows_read(nodes, "outbox_outboxrow") <= 1


def test_a_take_reads_what_is_open(user: Any) -> None:
    token = new_id()
    leases.claim(token=token, limit=1, seconds=60)
    nodes = plan(
        processing._READ_OPEN_WORK, {"end_user": user, "token": token, "rows": [], "limit": processing.LOOK_AHEAD}
    )
    assert "work_open_of_user" in indexes(nodes)
    assert rows_read(nodes, "outbox_outboxrow") == 1


def test_a_give_back_reads_what_is_open(user: Any) -> None:
    nodes = plan(leases._RELEASE.replace("%s", "%(end_user)s"), {"end_user": user})
    assert "work_open_of_user" in indexes(nodes)
    assert rows_read(nodes, "outbox_outboxrow") <= 2


def test_pruning_reads_the_oldest(user: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "update outbox_outboxrow set finished_at = now() - interval '1 year' where id in"
            " (select id from outbox_outboxrow where state = 'done' limit 100)"
        )
        cursor.execute("analyze outbox_outboxrow")
    nodes = plan(pruning._WORK, {"seconds": 604_800, "most": 10})
    assert "work_done_by_time" in indexes(nodes)
    assert reads_of(nodes, "work_done_by_time") == 10


def test_pruning_reads_nothing_that_is_young(user: Any) -> None:
    nodes = plan(pruning._WORK, {"seconds": 604_800, "most": 10})
    assert reads_of(nodes, "work_done_by_time") == 0
