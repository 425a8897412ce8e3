"""What saving a rule checks first, and rules that are suggested because they drop too much."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.intake.accept import Submission, accept
from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample, Memory
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import LabelValue, MemoryType, Reason, Role, Status
from apps.pipeline.core.policy import Rule
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule, Turn
from apps.traces.policies import active_policy
from apps.tuning.rules import check_rule
from apps.tuning.views.rules import rule_suggestions
from tests.console.test_patterns import HOME, RULE, active

pytestmark = pytest.mark.django_db


def test_a_rule_that_drops_a_memory_is_saved_only_under_its_typed_name(tuner: Client, full_project: Project) -> None:
    page = tuner.post(f"{HOME}patterns/new/", RULE).content.decode()
    assert "Of the last 6 turns it would drop <strong>1</strong> (17%)" in page
    assert "My sister Marta lives in Porto." in page
    (seen,) = re.findall(r'name="seen" value="(\w+)"', page)
    confirmed = RULE | {"seen": seen, "confirmation": "porto"}
    for given in (
        confirmed | {"confirmation": "Porto"},
        confirmed | {"pattern": "lisbon"},
        RULE | confirmed | {"seen": ""},
    ):
        assert "Not saved yet" in tuner.post(f"{HOME}patterns/new/", given).content.decode()
    assert active(full_project).number == 1
    tuner.post(f"{HOME}patterns/new/", confirmed)
    assert PreFilterRule.objects.filter(project=full_project, name="porto").exists()


def test_a_draft_needs_no_confirmation(tuner: Client, full_project: Project) -> None:
    tuner.post(f"{HOME}patterns/new/", RULE | {"draft": ""})
    assert (active(full_project).number, ConfigurationVersion.objects.count()) == (1, 2)


def test_a_harmful_rule_is_not_switched_on_with_one_click(tuner: Client, full_project: Project) -> None:
    tuner.post(f"{HOME}patterns/new/", {name: value for name, value in RULE.items() if name != "enabled"})
    page = tuner.post(f"{HOME}patterns/rules/porto/switch/", follow=True).content.decode()
    assert "Nothing was changed: rule porto would drop what is worth keeping." in page
    assert not PreFilterRule.objects.get(name="porto").enabled


def test_a_share_of_all_turns_is_harm_without_any_memory(full_project: Project) -> None:
    """None of the turns became a memory that is still active."""
    Memory.objects.filter(project=full_project).update(status=Status.ARCHIVED)
    rule = Rule(name="porto", reason=Reason.PATTERN, pattern="porto")
    found = check_rule(project_id=full_project.pk, rule=rule)
    assert (found.turns, len(found.dropped), found.harmful, found.needs_confirmation) == (6, 1, (), True)
    nothing = check_rule(project_id=full_project.pk, rule=rule.model_copy(update={"pattern": "zebra"}))
    assert (nothing.dropped, nothing.needs_confirmation) == ((), False)


def test_turns_that_are_dropped_already_are_no_harm(full_project: Project) -> None:
    rule = Rule(name="thanks_too", reason=Reason.PATTERN, pattern="thanks")
    assert check_rule(project_id=full_project.pk, rule=rule).dropped == ()


def test_a_check_sees_the_turn_before(project: Project) -> None:
    """A rule that is not for answers keeps an answer, although the question was asked in an earlier request."""
    for role, content in ((Role.ASSISTANT, "Do you live in Porto?"), (Role.USER, "Porto it is")):
        turn = NewTurn(role=role, content=content)
        submission = Submission(project_id=project.pk, api_key_id=None, user_id="rui", session_id="s", turns=(turn,))
        accept(submission=submission)
    rule = Rule(name="porto", reason=Reason.PATTERN, pattern="porto")
    assert len(check_rule(project_id=project.pk, rule=rule).dropped) == 1
    assert not check_rule(project_id=project.pk, rule=rule.model_copy(update={"unless_answering": True})).dropped


def test_a_check_asks_the_database_little(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """However many sessions there are."""
    for number in range(12):
        turn = NewTurn(role=Role.USER, content=f"I live in Porto, for {number} years.")
        accept(
            submission=Submission(
                project_id=project.pk, api_key_id=None, user_id=f"u{number}", session_id="s", turns=(turn,)
            )
        )
    active_policy(project_id=project.pk)
    with django_assert_max_num_queries(6):
        found = check_rule(project_id=project.pk, rule=Rule(name="porto", reason=Reason.PATTERN, pattern="porto"))
    assert len(found.dropped) == 12


# --- suggestions


def drop_by_rule(project: Project, content: str, *, before: str = "") -> Turn:
    """Send a turn that a rule drops, after one of the assistant if there is one."""
    said = [NewTurn(role=Role.ASSISTANT, content=before)] if before else []
    turns = (*said, NewTurn(role=Role.USER, content=content))
    accept(submission=Submission(project_id=project.pk, api_key_id=None, user_id="eva", session_id="s", turns=turns))
    turn = Turn.objects.get(content=content)
    Turn.objects.filter(pk=turn.pk).update(rejected_by="thanks_en", rejected_for="thanks")
    return Turn.objects.get(pk=turn.pk)


def quoting(turn: Turn, quote: str) -> Memory:
    """Store a memory of the turn's user that quotes it."""
    new = NewMemory(type=MemoryType.FACT, content="Eva is grateful to Marta.", evidence=quote)
    request = StoreRequest(
        project_id=turn.end_user.project_id, api_key_id=None, user_id=turn.end_user.external_id, memories=(new,)
    )
    return Memory.objects.get(pk=store(request=request)[0])


@pytest.mark.parametrize(
    ("before", "relaxed"), [("Who helped you move?", "answers"), ("I noted the move.", "off"), ("", "off")]
)
def test_a_rule_that_dropped_what_was_stored_later_is_suggested(project: Project, before: str, relaxed: str) -> None:
    turn = drop_by_rule(project, "thanks to Marta", before=before)
    memory = quoting(turn, "It went well, thanks to Marta!")
    (suggestion,) = rule_suggestions(project_id=project.pk)
    assert (suggestion.rule.name, suggestion.count, suggestion.relaxed) == ("thanks_en", 1, relaxed)
    assert (suggestion.drops[0].turn, suggestion.drops[0].memory) == (turn, memory)
    assert suggestion.drops[0].proof == "a later memory says it"
    Memory.objects.filter(pk=memory.pk).update(confidence_parts={"review": 0.6})
    (suggestion,) = rule_suggestions(project_id=project.pk)
    assert suggestion.drops[0].proof == "a reviewer approved it"


def test_a_label_makes_a_suggestion_and_other_words_make_none(full_project: Project) -> None:
    turn = Turn.objects.get(content="thanks!")
    assert rule_suggestions(project_id=full_project.pk) == []
    item = EvaluationItem.objects.create(
        end_user=turn.end_user, sample=EvaluationSample.objects.get(), position=1, turn=turn
    )
    EvaluationLabel.objects.create(end_user=turn.end_user, item=item, labeller="person:1", value=LabelValue.SOMETHING)
    (suggestion,) = rule_suggestions(project_id=full_project.pk)
    assert suggestion.drops[0].proof == "a labeller found something in it"


def test_a_suggestion_opens_the_rule_prefilled(tuner: Client, full_project: Project) -> None:
    quoting(drop_by_rule(full_project, "thanks to Marta", before="Who helped?"), "thanks to Marta")
    page = tuner.get(f"{HOME}patterns/").content.decode()
    (address,) = re.findall(r'href="([^"]+relax=answers)"', page)
    editor = tuner.get(address).content.decode()
    assert re.search(r'name="unless_answering"[^>]* checked', editor)
    assert "Proposed, and not saved yet" in editor
    assert not PreFilterRule.objects.get(project=full_project, name="thanks_en").unless_answering
