"""Labels: who said what about an item, undone and replaced; a missed turn becomes a memory."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, Unfit
from apps.intake.sessions import delete_session, delete_turn
from apps.memories.ledger.actor import acting_as
from apps.memories.models import EvaluationItem, EvaluationLabel, LedgerEntry, Memory
from apps.memories.services.revising import retract
from apps.pipeline.core.enums import LabelValue, MemoryType, SampleKind
from apps.privacy.apply_retention import apply_retention
from apps.privacy.users import erase_user
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.tuning.evaluation.samples import SHARED, items_to_label, label_item, remember_turn, undo_label
from tests.privacy.test_apply_retention import A_MINUTE, keep
from tests.tuning.evaluation.evaluated import drawn, told

pytestmark = pytest.mark.django_db
GOOD, UNTRUE, OUTDATED, USELESS, NOTHING, SOMETHING, SKIPPED = LabelValue
ANA, ANOTHER = "key:ana", "key:another"


@pytest.fixture(autouse=True)
def _ana_labels(project: Project) -> Iterator[None]:
    told(project)
    drawn(project)
    with acting_as(ANA):
        yield


def a_memory() -> EvaluationItem:
    return EvaluationItem.objects.filter(memory__isnull=False).order_by("position")[0]


def missed_turn() -> EvaluationItem:
    return EvaluationItem.objects.get(turn__content="The weather is odd today.")


def remember(project: Project, content: str = "User finds the weather odd.") -> EvaluationLabel:
    return remember_turn(project_id=project.pk, item_id=missed_turn().pk, content=content, type=MemoryType.FACT)


def test_a_label_names_its_labeller_and_replaces_the_former_one(project: Project) -> None:
    item = a_memory()
    label_item(project_id=project.pk, item_id=item.pk, value=GOOD)
    label_item(project_id=project.pk, item_id=item.pk, value=OUTDATED)
    with acting_as(ANOTHER):
        label_item(project_id=project.pk, item_id=item.pk, value=GOOD)
    said = set(item.labels.values_list("labeller", "value"))
    assert said == {(ANA, OUTDATED), (ANOTHER, GOOD)}


def test_items_of_other_projects_are_not_found(project: Project, other_project: Project) -> None:
    with pytest.raises(NotFound):
        label_item(project_id=other_project.pk, item_id=a_memory().pk, value=GOOD)
    label_item(project_id=project.pk, item_id=a_memory().pk, value=GOOD)
    with pytest.raises(NotFound):
        undo_label(project_id=other_project.pk, item_id=a_memory().pk)


def test_a_labelled_item_is_not_shown_again_until_the_label_is_undone(project: Project) -> None:
    def following() -> list[str]:
        rows = items_to_label(project_id=project.pk)
        return [each.shown_id for each in rows]

    before = following()
    first = items_to_label(project_id=project.pk)[0]
    assert (len(before), first.kind) == (5, SampleKind.MEMORY)
    label_item(project_id=project.pk, item_id=first.pk, value=SKIPPED)
    assert following() == before[1:]
    undo_label(project_id=project.pk, item_id=first.pk)
    assert following() == before
    with pytest.raises(NotFound):
        undo_label(project_id=project.pk, item_id=first.pk)


def test_labellers_share_the_first_items_and_divide_the_others(project: Project) -> None:
    shared, first, second = EvaluationItem.objects.filter(memory__isnull=False).order_by("position")
    for place, item in enumerate((first, second)):
        EvaluationItem.objects.filter(pk=item.pk).update(position=SHARED + place)
    for item in (shared, first):
        label_item(project_id=project.pk, item_id=item.pk, value=GOOD)
    with acting_as(ANOTHER):
        of_another = [item.pk for item in items_to_label(project_id=project.pk, kind=SampleKind.MEMORY)]
    assert of_another == [shared.pk, second.pk, first.pk]


def test_a_missed_turn_is_remembered_in_the_words_of_the_labeller(project: Project) -> None:
    label = remember(project)
    memory = Memory.objects.get(pk=label.remembered_id)
    turn = missed_turn().turn
    assert (label.value, memory.content, memory.evidence) == (SOMETHING, "User finds the weather odd.", turn.content)
    assert (memory.status, memory.end_user_id, memory.session_id) == ("active", turn.end_user_id, turn.session_id)
    assert LedgerEntry.objects.get(object_id=memory.pk).actor == ANA
    with pytest.raises(Conflict):
        remember(project)


def test_what_is_known_is_not_stored_again_but_labelled(project: Project) -> None:
    before = Memory.objects.count()
    label = remember(project, "User lives in Lisbon.")
    assert (label.value, label.remembered_id, Memory.objects.count()) == (SOMETHING, None, before)


def test_a_memory_is_no_missed_turn(project: Project) -> None:
    with pytest.raises(Unfit):
        remember_turn(project_id=project.pk, item_id=a_memory().pk, content="x", type=MemoryType.FACT)


def test_another_label_does_not_forget_what_was_remembered(project: Project) -> None:
    memory_id = remember(project).remembered_id
    label_item(project_id=project.pk, item_id=missed_turn().pk, value=NOTHING)
    undo_label(project_id=project.pk, item_id=missed_turn().pk)
    assert Memory.objects.get(pk=memory_id).status == "retracted"


def test_what_was_changed_since_is_not_undone(project: Project) -> None:
    memory_id = remember(project).remembered_id
    assert memory_id is not None
    retract(project_id=project.pk, memory_id=memory_id)
    with pytest.raises(Conflict):
        undo_label(project_id=project.pk, item_id=missed_turn().pk)
    assert EvaluationLabel.objects.exists()


def test_deleting_a_turn_deletes_what_was_remembered_of_it(project: Project) -> None:
    memory_id = remember(project).remembered_id
    delete_turn(project_id=project.pk, turn_id=missed_turn().turn_id)
    assert not Memory.objects.filter(pk=memory_id).exists()
    assert (EvaluationItem.objects.count(), EvaluationLabel.objects.count()) == (4, 0)


def test_deleting_a_session_deletes_its_items(project: Project) -> None:
    label_item(project_id=project.pk, item_id=a_memory().pk, value=GOOD)
    delete_session(project_id=project.pk, user_id="ana", session_id="monday")
    assert (EvaluationItem.objects.count(), EvaluationLabel.objects.count()) == (0, 0)


def test_an_erased_user_leaves_no_label(project: Project) -> None:
    label_item(project_id=project.pk, item_id=a_memory().pk, value=GOOD)
    erase_user(project_id=project.pk, user_id="ana")
    assert (EvaluationItem.objects.count(), EvaluationLabel.objects.count()) == (0, 0)


def test_turns_lose_their_texts_and_keep_their_labels(project: Project) -> None:
    label_item(project_id=project.pk, item_id=missed_turn().pk, value=NOTHING)
    labelled = missed_turn().pk
    Trace.objects.update(created_at=timezone.now() - timedelta(days=40))
    keep(project, turn_days=30)
    apply_retention(most=A_MINUTE)
    assert EvaluationItem.objects.get(pk=labelled).turn.content == ""
    assert EvaluationLabel.objects.get().value == NOTHING
    with acting_as(ANOTHER):
        following = list(items_to_label(project_id=project.pk))
    assert {item.kind for item in following} == {SampleKind.MEMORY}


@pytest.mark.django_db(transaction=True)
def test_a_labeller_who_asks_twice_at_once_stores_one_memory(project: Project) -> None:
    """Undoing the label retracts the memory that it knows; another one would stay without anybody's knowing."""
    before, start = Memory.objects.count(), Barrier(4)

    def stored(boat: int) -> bool:
        try:
            start.wait()
            remember(project, f"User owns boat number {boat}.")
        except Conflict:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(max_workers=4) as asking:
        assert sorted(asking.map(stored, range(4))) == [False, False, False, True]
    assert Memory.objects.count() == before + 1
