"""Rollbacks of many users go on where they were; erased users and deleted turns take their part with them."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from apps.common.errors import Unfit
from apps.intake.sessions import delete_session
from apps.memories.ledger.actor import acting_as
from apps.memories.models import Entity, EntityAlias, EntityChange, LedgerEntry, Memory, Rollback, RollbackItem
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.privacy.users import erase_user, export_user
from apps.tenants.models import ApiKey, EndUser, Project
from apps.traces.models import Trace
from apps.tuning.rollbacks.loading import named_selection
from apps.tuning.rollbacks.services import continue_rollbacks, preview_rollback, request_rollback, undo_rollback
from apps.worker import tasks
from tests.tuning.rollbacks.teller import FOREVER, Teller, names, roll_back, state, undo

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(project: Project) -> Teller:
    return Teller(project)


@pytest.fixture
def bea(project: Project) -> Teller:
    return Teller(project, "bea")


def everything(project: Project) -> Rollback:
    return Rollback(project=project, selection=named_selection(project_id=project.id, version=1))


@pytest.mark.parametrize("selection", [{}, {"user": "ana"}])
def test_a_selection_without_a_condition_takes_nothing_back(project: Project, ana: Teller, selection: Any) -> None:
    ana.tells("I live in Lisbon.", day=2)
    for act in (preview_rollback, request_rollback):
        with pytest.raises(Unfit, match="at least one condition"):
            act(Rollback(project=project, selection=selection))
    assert not Rollback.objects.exists()
    assert ana.memories() == ["User lives in Lisbon."]


def test_what_is_left_goes_on_later(project: Project, ana: Teller, bea: Teller) -> None:
    for person in (ana, bea):
        person.tells("I live in Lisbon.", day=2)

    rollback = request_rollback(everything(project), wait=timedelta(0))
    assert rollback.state == "waiting"
    assert ana.memories() == bea.memories() == ["User lives in Lisbon."]

    assert tasks.continue_rollbacks() == 1
    rollback.refresh_from_db()
    assert (rollback.state, rollback.counts["users"], rollback.counts["traces"]) == ("done", 2, 2)
    assert ana.memories() == bea.memories() == []

    undone = undo_rollback(project_id=project.id, rollback_id=rollback.id, wait=timedelta(0))
    assert undone.state == "undoing"
    continue_rollbacks(most=FOREVER)
    assert ana.memories() == bea.memories() == ["User lives in Lisbon."]
    assert continue_rollbacks(most=FOREVER) == 0


def test_what_is_said_after_it_was_asked_for_stays(project: Project, ana: Teller) -> None:
    ana.tells("I live in Lisbon.", day=2)
    request_rollback(everything(project), wait=timedelta(0))
    ana.tells("I like green tea.", day=3)

    continue_rollbacks(most=FOREVER)

    assert ana.memories() == ["User likes green tea."]


def test_an_erased_user_takes_the_part_along(project: Project, ana: Teller, bea: Teller) -> None:
    traces = [person.tells("I live in Lisbon. My sister is called Lena.", day=2) for person in (ana, bea)]
    rollback = roll_back(project, *traces)

    lines = b"".join(export_user(project_id=project.id, user_id="ana"))
    assert b'"kind":"rollbacks"' in lines
    erase_user(project_id=project.id, user_id="ana", wait=FOREVER)

    assert list(RollbackItem.objects.values_list("end_user_id", flat=True)) == [bea.id]
    undo(rollback)
    assert (ana.memories(), bea.memories()) == ([], ["User lives in Lisbon.", "Lena is User's sister."])
    assert not EntityChange.objects.filter(end_user_id=ana.id).exists()


def test_a_deleted_session_is_not_restored(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon. My sister is called Lena.", day=2)
    rollback = roll_back(project, trace)
    delete_session(project_id=project.id, user_id="ana", session_id="monday")

    undone = undo(rollback)

    assert undone.state == "undone"
    assert not Memory.objects.exists()
    assert not Entity.objects.filter(is_user=False).exists()


def test_who_did_it_is_in_the_ledger(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon.", day=2)
    with acting_as("person:7"):
        rollback = roll_back(project, trace)
    with acting_as("person:8"):
        undo(rollback)

    acts = LedgerEntry.objects.filter(object_kind="rollback").order_by("id").values_list("verb", "actor")
    assert list(acts) == [
        ("rollback_requested", "person:7"),
        ("rolled_back", "person:7"),
        ("rollback_undo_requested", "person:8"),
        ("rollback_undone", "person:8"),
    ]
    memory = LedgerEntry.objects.filter(object_kind="memory", verb="rolled_back").get()
    assert (memory.actor, memory.object_id) == ("person:7", Memory.objects.get().id)


def test_names_and_descriptions_come_and_go(project: Project, ana: Teller) -> None:
    ana.tells("My manager is called Bob.", day=2)
    before = names(ana)
    trace = ana.tells("My manager is called Priya.", day=3, session="friday")
    after = names(ana)
    assert before != after

    rollback = roll_back(project, trace)
    assert names(ana) == before
    undo(rollback)
    assert names(ana) == after


@pytest.mark.parametrize(("said_since", "holder"), [("I like tea.", "Bob"), ("My manager is called Kim.", "Kim")])
def test_a_description_goes_back_unless_another_trace_has_given_it_away_since(
    project: Project, ana: Teller, said_since: str, holder: str
) -> None:
    ana.tells("My manager is called Bob.", day=2)
    trace = ana.tells("My manager is called Priya.", day=3, session="friday")
    ana.tells(said_since, day=4, session="sunday")

    roll_back(project, trace)

    described = EntityAlias.objects.filter(alias__icontains="manager", withdrawn=False)
    assert list(described.values_list("entity__name", flat=True)) == [holder]


def test_names_without_a_record_stay(project: Project, ana: Teller) -> None:
    trace = ana.tells("My sister Lena lives in Ghent.", day=3)
    EntityChange.objects.all().delete()
    Entity.objects.update(added_by=None)
    before = set(EntityAlias.objects.values_list("alias", "count"))

    roll_back(project, trace)

    assert set(EntityAlias.objects.filter(withdrawn=False).values_list("alias", "count")) == before
    assert Entity.objects.standing().filter(name="Lena").exists()


def test_indexing_of_what_goes_is_cancelled(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon.", day=2)
    OutboxRow.objects.filter(end_user_id=ana.id).update(state=WorkState.PENDING, finished_at=None)

    rollback = roll_back(project, trace)

    assert rollback.counts["work_cancelled"] == 2
    assert not OutboxRow.objects.exclude(state=WorkState.DONE).exists()


def test_a_user_who_is_being_erased_is_put_off(project: Project, ana: Teller) -> None:
    trace = ana.tells("I live in Lisbon.", day=2)
    EndUser.objects.filter(id=ana.id).update(erasing_since=F("created_at"))

    rollback = roll_back(project, trace)

    assert rollback.state == "waiting"
    assert rollback.items.get().error == "the end user is being erased"
    EndUser.objects.filter(id=ana.id).update(erasing_since=None)
    continue_rollbacks(most=FOREVER)
    assert Rollback.objects.get().state == "done"
    assert state(ana) == set()
    assert not ApiKey.objects.exists()
    assert Trace.objects.get().rollback_id == rollback.id
