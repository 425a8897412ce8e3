"""Labels: who said what about an item, undone and replaced; a missed turn becomes a memory."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, Unfit
from apps.intake.sessions import delete_session, delete_turn
from apps.memories.models import EvaluationItem, EvaluationLabel, LedgerEntry, Memory
from apps.memories.services.revising import retract
from apps.pipeline.core.enums import LabelValue, MemoryType, SampleKind
from apps.privacy.apply_retention import apply_retention
from apps.privacy.users import erase_user
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.tuning.evaluation.samples import SHARED, Labeller, items_to_label, label_item, remember_turn, undo_label
from tests.privacy.test_apply_retention import A_MINUTE, keep
from tests.tuning.evaluation.evaluated import drawn, told

pytestmark = pytest.mark.django_db
GOOD, UNTRUE, OUTDATED, USELESS, NOTHING, SOMETHING, SKIPPED = LabelValue
ANOTHER = "person:1000008"  # a labeller whose number no account of these tests gets


@pytest.fixture
def ana(project: Project) -> Labeller:
    told(project)
    drawn(project)
    return Labeller(project.pk, person_id=User.objects.create_user("ana").pk)


def a_memory() -> EvaluationItem:
    return EvaluationItem.objects.filter(memory__isnull=False).order_by("position")[0]


def missed_turn() -> EvaluationItem:
    return EvaluationItem.objects.get(turn__content="The weather is odd today.")


def remember(by: Labeller, content: str = "User finds the weather odd.") -> EvaluationLabel:
    return remember_turn(by=by, item_id=missed_turn().pk, content=content, type=MemoryType.FACT)


def test_a_label_names_its_labeller_and_replaces_the_former_one(ana: Labeller) -> None:
    item = a_memory()
    label_item(by=ana, item_id=item.pk, value=GOOD)
    label_item(by=ana, item_id=item.pk, value=OUTDATED)
    beth = Labeller(ana.project_id, person_id=User.objects.create_user("beth").pk)
    label_item(by=beth, item_id=item.pk, value=GOOD)
    said = set(item.labels.values_list("labeller", "value"))
    assert said == {(f"person:{ana.person_id}", OUTDATED), (f"person:{beth.person_id}", GOOD)}


def test_what_is_asked_about_one_kind_does_not_fit_the_other(ana: Labeller) -> None:
    for item, value in ((a_memory(), SOMETHING), (missed_turn(), GOOD)):
        with pytest.raises(Unfit):
            label_item(by=ana, item_id=item.pk, value=value)
    assert not EvaluationLabel.objects.exists()


def test_items_of_other_projects_are_not_found(ana: Labeller, other_project: Project) -> None:
    stranger = Labeller(other_project.pk, person_id=ana.person_id)
    with pytest.raises(NotFound):
        label_item(by=stranger, item_id=a_memory().pk, value=GOOD)
    label_item(by=ana, item_id=a_memory().pk, value=GOOD)
    with pytest.raises(NotFound):
        undo_label(by=stranger, item_id=a_memory().pk)


def test_a_labelled_item_is_not_shown_again_until_the_label_is_undone(ana: Labeller) -> None:
    def following() -> list[str]:
        rows = items_to_label(project_id=ana.project_id, labeller=ana.name)
        return [each.shown_id for each in rows]

    before = following()
    first = items_to_label(project_id=ana.project_id, labeller=ana.name)[0]
    assert (len(before), first.kind) == (5, SampleKind.MEMORY)
    label_item(by=ana, item_id=first.pk, value=SKIPPED)
    assert following() == before[1:]
    undo_label(by=ana, item_id=first.pk)
    assert following() == before
    with pytest.raises(NotFound):
        undo_label(by=ana, item_id=first.pk)


def test_labellers_share_the_first_items_and_divide_the_others(ana: Labeller) -> None:
    shared, first, second = EvaluationItem.objects.filter(memory__isnull=False).order_by("position")
    for place, item in enumerate((first, second)):
        EvaluationItem.objects.filter(pk=item.pk).update(position=SHARED + place)
    for item in (shared, first):
        label_item(by=ana, item_id=item.pk, value=GOOD)
    ben = items_to_label(project_id=ana.project_id, labeller=ANOTHER, kind=SampleKind.MEMORY)
    assert [item.pk for item in ben] == [shared.pk, second.pk, first.pk]


def test_a_missed_turn_is_remembered_in_the_words_of_the_labeller(ana: Labeller) -> None:
    label = remember(ana)
    memory = Memory.objects.get(pk=label.remembered_id)
    turn = missed_turn().turn
    assert (label.value, memory.content, memory.evidence) == (SOMETHING, "User finds the weather odd.", turn.content)
    assert (memory.status, memory.end_user_id, memory.session_id) == ("active", turn.end_user_id, turn.session_id)
    assert LedgerEntry.objects.get(object_id=memory.pk).actor == ana.name
    with pytest.raises(Conflict):
        remember(ana)


def test_what_is_known_is_not_stored_again_but_labelled(ana: Labeller) -> None:
    before = Memory.objects.count()
    label = remember(ana, "User lives in Lisbon.")
    assert (label.value, label.remembered_id, Memory.objects.count()) == (SOMETHING, None, before)


def test_a_memory_is_no_missed_turn(ana: Labeller) -> None:
    with pytest.raises(Unfit):
        remember_turn(by=ana, item_id=a_memory().pk, content="x", type=MemoryType.FACT)


def test_undoing_retracts_what_was_remembered(ana: Labeller) -> None:
    memory_id = remember(ana).remembered_id
    undo_label(by=ana, item_id=missed_turn().pk)
    assert Memory.objects.get(pk=memory_id).status == "retracted"
    assert not EvaluationLabel.objects.exists()


def test_another_label_does_not_forget_what_was_remembered(ana: Labeller) -> None:
    memory_id = remember(ana).remembered_id
    label_item(by=ana, item_id=missed_turn().pk, value=NOTHING)
    undo_label(by=ana, item_id=missed_turn().pk)
    assert Memory.objects.get(pk=memory_id).status == "retracted"


def test_what_was_changed_since_is_not_undone(ana: Labeller) -> None:
    memory_id = remember(ana).remembered_id
    assert memory_id is not None
    retract(project_id=ana.project_id, memory_id=memory_id)
    with pytest.raises(Conflict):
        undo_label(by=ana, item_id=missed_turn().pk)
    assert EvaluationLabel.objects.exists()


def test_deleting_a_turn_deletes_what_was_remembered_of_it(ana: Labeller) -> None:
    memory_id = remember(ana).remembered_id
    delete_turn(project_id=ana.project_id, turn_id=missed_turn().turn_id)
    assert not Memory.objects.filter(pk=memory_id).exists()
    assert (EvaluationItem.objects.count(), EvaluationLabel.objects.count()) == (4, 0)


def test_deleting_a_session_deletes_its_items(ana: Labeller) -> None:
    label_item(by=ana, item_id=a_memory().pk, value=GOOD)
    delete_session(project_id=ana.project_id, user_id="ana", session_id="monday")
    assert (EvaluationItem.objects.count(), EvaluationLabel.objects.count()) == (0, 0)


def test_an_erased_user_leaves_no_label(ana: Labeller) -> None:
    label_item(by=ana, item_id=a_memory().pk, value=GOOD)
    erase_user(project_id=ana.project_id, user_id="ana")
    assert (EvaluationItem.objects.count(), EvaluationLabel.objects.count()) == (0, 0)


def test_turns_lose_their_texts_and_keep_their_labels(project: Project, ana: Labeller) -> None:
    label_item(by=ana, item_id=missed_turn().pk, value=NOTHING)
    labelled = missed_turn().pk
    Trace.objects.update(created_at=timezone.now() - timedelta(days=40))
    keep(project, turn_days=30)
    apply_retention(most=A_MINUTE)
    assert EvaluationItem.objects.get(pk=labelled).turn.content == ""
    assert EvaluationLabel.objects.get().value == NOTHING
    following = items_to_label(project_id=project.pk, labeller=ANOTHER)
    assert {item.kind for item in following} == {SampleKind.MEMORY}


@pytest.mark.django_db(transaction=True)
def test_a_labeller_who_asks_twice_at_once_stores_one_memory(ana: Labeller) -> None:
    """Undoing the label retracts the memory that it knows; another one would stay without anybody's knowing."""
    before, start = Memory.objects.count(), Barrier(4)

    def stored(boat: int) -> bool:
        try:
            start.wait()
            remember(ana, f"User owns boat number {boat}.")
        except Conflict:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(max_workers=4) as asking:
        assert sorted(asking.map(stored, range(4))) == [False, False, False, True]
    assert Memory.objects.count() == before + 1
