"""A session's items are deleted in the lock order of all writers: the end user comes first."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.common.errors import Conflict
from apps.intake.sessions import delete_session
from apps.items.models import StoredItem
from apps.pipeline.core.identifiers import end_user_id
from apps.tenants.models import EndUser, Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(project: Project) -> EndUser:
    """An end user with an item in a session without turns."""
    user = EndUser.objects.create(
        id=end_user_id(project_id=project.pk, user_id="ana"), project=project, external_id="ana"
    )
    StoredItem.objects.create(
        project=project, end_user=user, session_id="monday", namespace=["notes"], key="1", value={"text": "tea"}
    )
    return user


def test_the_end_user_is_locked_before_items_are_deleted(project: Project, ana: EndUser) -> None:
    with CaptureQueriesContext(connection) as queries:
        deleted = delete_session(project_id=project.pk, user_id="ana", session_id="monday")
    statements = [each["sql"].lower().replace('"', "") for each in queries.captured_queries]
    lock = next(place for place, sql in enumerate(statements) if "for no key update" in sql)
    deletion = next(place for place, sql in enumerate(statements) if "delete from items_storeditem" in sql)
    assert lock < deletion
    assert deleted["items"] == 1


def test_nothing_is_deleted_while_the_end_user_is_erased(project: Project, ana: EndUser) -> None:
    EndUser.objects.filter(pk=ana.pk).update(erasing_since=timezone.now())
    with pytest.raises(Conflict):
        delete_session(project_id=project.pk, user_id="ana", session_id="monday")
    assert StoredItem.objects.filter(end_user=ana).exists()
