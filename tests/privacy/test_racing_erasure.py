"""Requests and workers that started before an erasure can't bring the end user back."""

import pytest
from django.db import connection, transaction

from apps.memories.models import Entity
from apps.privacy.users import USER_TABLES, erase_user
from apps.projects.services import create_project
from apps.tenants.models import EndUser, Erasure, Project
from apps.traces.models import Session, Turn
from tests.outbox.second_connection import Aside
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project(transactional_db: None) -> Project:
    return create_project(name="Test", slug="test")


def rows_of(person: Person) -> dict[str, int]:
    counted = {table.name: table.model._default_manager.filter(end_user_id=person.id).count() for table in USER_TABLES}
    return {name: count for name, count in counted.items() if count}


def test_an_erasure_waits_for_a_request_that_is_being_committed(project: Project) -> None:
    ana = Person(project)
    ana.says("I live in Lisbon.")
    with transaction.atomic():
        ana.says("I moved to Porto.")
        erasing = Aside(lambda: erase_user(project_id=project.id, user_id="ana")).run()
        assert not Erasure.objects.exists()
    erasing.end()

    assert erasing.error is None
    assert rows_of(ana) == {}


def test_a_request_that_comes_after_an_erasure_starts_with_nothing(project: Project) -> None:
    ana = Person(project)
    ana.says("I live in Lisbon.")
    asking = Aside(lambda: ana.says("I moved to Porto."), pause_before=0).run()
    erase_user(project_id=project.id, user_id="ana")

    assert asking.end().error is None
    assert [turn.content for turn in Turn.objects.all()] == ["I moved to Porto."]
    assert EndUser.objects.get(id=ana.id).external_id == "ana"


@pytest.mark.parametrize("statement", [1, 3, 5, 7])
def test_a_worker_writes_nothing_about_an_erased_user(project: Project, statement: int) -> None:
    ana = Person(project)
    ana.says("I live in Lisbon and my sister is called Marta.")
    working = Aside(ana.is_worked_for, pause_before=statement).run()
    erasing = Aside(lambda: erase_user(project_id=project.id, user_id="ana")).run()
    working.end()
    erasing.end()

    assert erasing.error is None
    assert rows_of(ana) == {}


def test_an_erasure_outlives_a_deadlock_with_a_writer_that_began_before(project: Project) -> None:
    ana = Person(project)
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("set local deadlock_timeout = '60s'")  # the other one notices first, and is aborted
        list(Session.objects.select_for_update().filter(end_user_id=ana.id))
        erasing = Aside(lambda: erase_user(project_id=project.id, user_id="ana")).run()
        assert list(Entity.objects.select_for_update().filter(end_user_id=ana.id)) != []
    erasing.end()

    assert erasing.error is None
    assert rows_of(ana) == {}
