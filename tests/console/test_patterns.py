"""The page of rules: trying, previewing, saving, switching, deleting and restoring them; and settings."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.actions.memories.store import StoreRequest, store
from apps.actions.rules import request_preview as asking
from apps.actions.rules.check_rule import check_rule
from apps.actions.rules.run_preview import run_preview
from apps.console.selectors.rule_suggestions import rule_suggestions
from apps.intake.accept import Submission, accept
from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample, Memory
from apps.pipeline.core.enums import LabelValue, MemberRole, MemoryType, Reason, Role, Status
from apps.pipeline.core.policy import Rule
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Membership, Project
from apps.traces.models import ConfigurationVersion, PreFilterRule, PreviewState, RulePreview, Turn
from apps.traces.policies import active_policy

pytestmark = pytest.mark.django_db
HOME = "/console/test/"
RULE = {"name": "porto", "reason": "pattern", "pattern": "porto", "order": "1", "roles": ["user"], "enabled": "on"}


@pytest.fixture
def tuner(full_project: Project) -> Client:
    user = User.objects.create_user("tess")
    Membership.objects.create(user=user, project=full_project, role=MemberRole.ADMIN)
    client = Client()
    client.force_login(user)
    return client


def active(project: Project) -> ConfigurationVersion:
    return ConfigurationVersion.objects.get(project=project, is_active=True)


def undo_in(page: str) -> str:
    """Return where the undo of the last toast goes."""
    return re.findall(r'<form method="post" action="([^"]+)">(?:(?!</form>).)*data-undo', page, re.DOTALL)[-1]


def test_a_rule_is_saved_in_a_new_version_and_undone(tuner: Client, full_project: Project) -> None:
    page = tuner.post(f"{HOME}patterns/new/", RULE | {"pattern": "zebra"}, follow=True).content.decode()
    assert PreFilterRule.objects.filter(project=full_project, name="porto").exists()
    assert active(full_project).number == 2
    tuner.post(undo_in(page))
    assert not PreFilterRule.objects.filter(project=full_project, name="porto").exists()
    assert active(full_project).number == 3


def test_a_rule_is_changed_under_its_name(tuner: Client, full_project: Project) -> None:
    known = PreFilterRule.objects.filter(project=full_project).earliest("order")
    given = RULE | {"name": "another", "pattern": "zebra"}
    tuner.post(f"{HOME}patterns/rules/{known.name}/", given)
    assert PreFilterRule.objects.get(project=full_project, name=known.name).pattern == "zebra"
    assert not PreFilterRule.objects.filter(name="another").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pattern": "porto(["}, "missing"),
        ({"pattern": r"a(?=b)"}, "invalid"),
        ({"pattern": "x*"}, "matches an empty text"),
        ({"name": "thanks_en"}, "another rule has this name"),
        ({"name": "Not-A-Name"}, "pattern"),
        ({"roles": []}, "required"),
    ],
)
def test_what_can_not_be_used_is_refused_with_the_reason(
    tuner: Client, full_project: Project, change: dict[str, object], said: str
) -> None:
    answer = tuner.post(f"{HOME}patterns/new/", RULE | change)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert active(full_project).number == 1


def test_a_refused_pattern_shows_where(tuner: Client) -> None:
    page = tuner.post(f"{HOME}patterns/new/", RULE | {"pattern": "porto(?=o)"}).content.decode()
    assert '<code>porto<mark class="here">(?=o)</mark></code>' in page
    assert "at character 6" in page


def test_a_rule_is_switched_off_and_deleted_with_a_way_back(tuner: Client, full_project: Project) -> None:
    def rules() -> dict[str, bool]:
        return dict(PreFilterRule.objects.filter(project=full_project).values_list("name", "enabled"))

    before = rules()
    name = next(iter(before))
    page = tuner.post(f"{HOME}patterns/rules/{name}/switch/", follow=True).content.decode()
    assert rules() == before | {name: False}
    tuner.post(undo_in(page))
    assert rules() == before
    page = tuner.post(f"{HOME}patterns/rules/{name}/delete/", follow=True).content.decode()
    assert name not in rules()
    tuner.post(undo_in(page))
    assert rules() == before


def test_rules_are_found_by_name_pattern_and_reason(tuner: Client, full_project: Project) -> None:
    PreFilterRule.objects.create(project=full_project, name="bees", reason="pattern", pattern="honey", order=1)

    def shown(query: str) -> set[str]:
        return set(re.findall(r'<tr id="([a-z0-9_]+)"', tuner.get(f"{HOME}patterns/?{query}").content.decode()))

    assert shown("q=honey") == shown("q=bees") == shown("reason=pattern") == {"bees"}
    assert shown("q=zebra") == shown("q=%00") - shown("q=") == set()
    assert len(shown("")) == 50


# --- what saving checks first


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


# --- the box to try a turn in


def test_a_turn_is_tried_on_what_is_saved(tuner: Client) -> None:
    page = tuner.post(f"{HOME}patterns/try/", {"content": "thank you!"}).content.decode()
    assert "dropped" in page
    assert "thanks" in page
    assert "passes" in tuner.post(f"{HOME}patterns/try/", {"content": "I like Porto"}).content.decode()


def test_a_turn_is_tried_on_the_rule_as_it_stands(tuner: Client) -> None:
    page = tuner.post(f"{HOME}patterns/try/", RULE | {"content": "I like Porto"}).content.decode()
    assert "<mark>porto</mark>" in page


def test_a_trial_without_a_turn_or_with_a_broken_pattern_says_so(tuner: Client) -> None:
    assert "required" in tuner.post(f"{HOME}patterns/try/", {}).content.decode()
    page = tuner.post(f"{HOME}patterns/try/", RULE | {"content": "x", "pattern": "("}).content.decode()
    assert "pattern: missing" in page


# --- previews


def numbers_in(page: str) -> list[int]:
    return [int(number) for number in re.findall(r"<dd>(\d+)", page)]


def test_a_preview_shows_what_would_change(tuner: Client) -> None:
    page = tuner.post(f"{HOME}patterns/preview/", RULE | {"days": "7"}).content.decode()
    assert numbers_in(page) == [6, 1, 1, 0]
    assert "My sister Marta lives in Porto." in page
    assert "lost:" in page
    assert not PreFilterRule.objects.filter(name="porto").exists()


def test_a_long_preview_shows_its_progress(tuner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "IMMEDIATE_TURNS", 0)
    page = tuner.post(f"{HOME}patterns/preview/", RULE | {"days": "7"}).content.decode()
    assert "waiting for a worker" in page
    preview = RulePreview.objects.get()
    address = f"{HOME}patterns/preview/{preview.pk}/"
    assert f'hx-get="{address}"' in page
    run_preview(preview_id=preview.pk)
    done = tuner.get(address).content.decode()
    assert "hx-get" not in done
    assert numbers_in(done) == [6, 1, 1, 0]


def test_a_preview_whose_worker_was_stopped_is_shown_as_lost(tuner: Client, full_project: Project) -> None:
    long_ago = timezone.now() - timezone.timedelta(hours=1)
    preview = RulePreview.objects.create(
        project=full_project, rule=RULE, days=7, state=PreviewState.RUNNING, created_at=long_ago
    )
    page = tuner.get(f"{HOME}patterns/preview/{preview.pk}/").content.decode()
    assert "interrupted" in page
    assert "hx-get" not in page


def test_a_preview_of_a_broken_pattern_shows_where(tuner: Client) -> None:
    page = tuner.post(f"{HOME}patterns/preview/", RULE | {"pattern": "porto(?=o)"}).content.decode()
    assert 'class="here"' in page
    assert not RulePreview.objects.filter(rule__name="porto").exists()


def test_too_many_days_are_refused(tuner: Client) -> None:
    assert "days" in tuner.post(f"{HOME}patterns/preview/", RULE | {"days": "4000"}).content.decode()


# --- settings


def settings_in(page: str) -> dict[str, str]:
    form = page[page.index('class="settings"') : page.index('id="versions"')]
    found = dict(re.findall(r'<input name="([\w.]+)" value="([^"]*)"', form))
    for name, options in re.findall(r'<select name="([\w.]+)">(.*?)</select>', form):
        chosen = re.search(r"<option selected>([^<]*)", options)
        found[name] = chosen[1] if chosen else ""
    found |= dict(re.findall(r'type="checkbox" name="([\w.]+)" value="(\w+)" checked', form))
    found |= dict.fromkeys(re.findall(r'type="checkbox" name="([\w.]+)" checked', form), "on")
    return found


def test_a_setting_is_changed_and_undone(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1", "note": "stricter"}
    same = active(full_project).as_policy()
    given["confidence.review_below"] = "0.6"
    page = tuner.post(f"{HOME}configuration/change/", given, follow=True).content.decode()
    version = active(full_project)
    assert (version.number, version.note) == (2, "stricter")
    changed = same.model_copy(update={"confidence": same.confidence.model_copy(update={"review_below": 0.6})})
    assert version.as_policy() == changed
    difference = tuner.get(f"{HOME}configuration/2/").content.decode()
    assert "confidence.review_below" in difference
    assert difference.count('class="card change"') == 1
    tuner.post(undo_in(page))
    assert active(full_project).as_policy() == same


def test_changes_are_shown_before_they_are_saved(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1"}
    address = f"{HOME}configuration/changes/"
    page = tuner.post(address, given | {"confidence.review_below": "0.6", "index.questions": "4"}).content.decode()
    assert "2 changes" in page
    assert "Review is needed below" in page
    assert "No value differs." in tuner.post(address, given).content.decode()
    assert "must be a number" in tuner.post(address, given | {"index.questions": "x"}).content.decode()
    assert active(full_project).number == 1


def test_the_form_as_it_stands_changes_nothing(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1"}
    page = tuner.post(f"{HOME}configuration/change/", given, follow=True).content.decode()
    assert "no value differs" in page
    assert active(full_project).number == 1


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("dedupe.neighbours", "0", "dedupe neighbours"),
        ("dedupe.neighbours", "many", "dedupe neighbours"),
        ("confidence.review_below", "", "confidence review_below"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(
    tuner: Client, full_project: Project, key: str, value: str, said: str
) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1", key: value}
    answer = tuner.post(f"{HOME}configuration/change/", given)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert active(full_project).number == 1


def test_a_form_that_is_out_of_date_is_refused(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1"}
    tuner.post(f"{HOME}configuration/change/", given | {"dedupe.neighbours": "7"})
    answer = tuner.post(f"{HOME}configuration/change/", given | {"dedupe.neighbours": "8"})
    assert answer.status_code == 422
    assert active(full_project).as_policy().dedupe.neighbours == 7


def test_a_refused_form_keeps_what_was_typed_and_marks_the_field(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1", "note": "why not"}
    given |= {"dedupe.neighbours": "many", "confidence.review_below": "0.6"}
    page = tuner.post(f"{HOME}configuration/change/", given).content.decode()
    assert settings_in(page) == {name: text for name, text in given.items() if name not in ("base", "note")}
    assert page.count('aria-invalid="true"') == 1
    assert 'name="dedupe.neighbours" value="many" aria-invalid="true"' in page
    assert 'value="why not"' in page


def test_changes_of_an_outdated_form_are_kept_on_the_active_version(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1"}
    tuner.post(f"{HOME}configuration/change/", given | {"dedupe.neighbours": "7"})
    page = tuner.post(f"{HOME}configuration/change/", given | {"confidence.review_below": "0.6"}).content.decode()
    again = settings_in(page)
    assert (again["dedupe.neighbours"], again["confidence.review_below"]) == ("7", "0.6")
    tuner.post(f"{HOME}configuration/change/", again | {"base": "2"})
    policy = active(full_project).as_policy()
    assert (policy.dedupe.neighbours, policy.confidence.review_below) == (7, 0.6)


def test_the_active_version_is_not_returned_to(tuner: Client, full_project: Project) -> None:
    page = tuner.post(f"{HOME}configuration/1/restore/", follow=True).content.decode()
    assert "Nothing was changed" in page
    assert active(full_project).number == 1
