"""In a deadlock of two writers, the one that PostgreSQL aborts gets StalePlan and plans again."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection, transaction

from apps.memories.write_conflicts import stale_on_write_conflict
from apps.pipeline.core.ports import StalePlan
from apps.tenants.models import Project

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_deadlock_lets_one_go_on(project: Project, other_project: Project) -> None:
    both_hold_one = Barrier(2, timeout=60)

    def locks(first: UUID, second: UUID) -> str:
        try:
            with stale_on_write_conflict(), transaction.atomic():
                Project.objects.select_for_update().get(id=first)
                both_hold_one.wait()
                Project.objects.select_for_update().get(id=second)
            return "went on"
        except StalePlan:
            return "stale"
        finally:
            connection.close()

    orders: Sequence[tuple[UUID, UUID]] = ((project.id, other_project.id), (other_project.id, project.id))
    with ThreadPoolExecutor(2) as threads:
        ends = list(threads.map(lambda order: locks(*order), orders))
    assert sorted(ends) == ["stale", "went on"]
