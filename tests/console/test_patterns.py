"""The page of rules: trying, previewing, saving, switching, deleting and restoring them; and settings."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule, Turn

pytestmark = pytest.mark.django_db
HOME = "/console/test/"
RULE = {"name": "porto", "reason": "pattern", "pattern": "porto", "order": "1", "roles": ["user"], "enabled": "on"}


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


UNUSABLE = [
    ({"pattern": "porto(["}, "missing"),
    ({"pattern": r"a(?=b)"}, "invalid"),
    ({"pattern": "x*"}, "matches an empty text"),
    ({"name": "thanks_en"}, "another rule has this name"),
    ({"name": "Not-A-Name"}, "small letters a to z, digits and underscores"),
    ({"roles": []}, "required"),
]


def test_what_can_not_be_used_is_refused_with_the_reason(
    tuner: Client, full_project: Project, subtests: pytest.Subtests
) -> None:
    for change, said in UNUSABLE:
        with subtests.test(change=change, said=said):
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


def test_switching_a_rule_is_noted_as_such_and_keeps_the_list(tuner: Client, full_project: Project) -> None:
    name = PreFilterRule.objects.filter(project=full_project, enabled=True).earliest("order").name
    page = tuner.get(f"{HOME}patterns/?q={name}&reason=&by=hits").content.decode()
    address = html.unescape(re.findall(rf'action="([^"]*/{name}/switch/[^"]*)"', page)[0])
    for done in ("switched off", "switched on"):
        answer = tuner.post(address)
        assert parse_qs(urlsplit(answer["Location"]).query) == {"q": [name], "by": ["hits"]}
        assert active(full_project).note == f"rule {name} {done}"
        assert f"Rule {name} {done}: version" in tuner.get(answer["Location"]).content.decode()


def test_the_page_of_a_rule_leads_to_what_it_dropped(tuner: Client, full_project: Project) -> None:
    dropped = Turn.objects.exclude(rejected_by="").filter(trace__project=full_project).latest("received_at")
    name = dropped.rejected_by
    PreFilterRule.objects.filter(project=full_project, name=name).update(hit_count=1, last_hit_at=timezone.now())
    page = tuner.get(f"{HOME}patterns/rules/{name}/").content.decode()
    (address,) = re.findall(r'href="([^"]+)">Show the messages that it dropped', page)
    shown = tuner.get(address).content.decode()
    by_rule = {str(each) for each in Turn.objects.filter(rejected_by=name).values_list("trace_id", flat=True)}
    assert set(re.findall(r'data-open-row href="/console/test/traces/([^/]+)/"', shown)) == by_rule
    assert f'that the rule <span class="said" hx-disable>{name}</span> dropped' in shown


def test_rules_are_found_by_name_pattern_and_reason(tuner: Client, full_project: Project) -> None:
    PreFilterRule.objects.create(project=full_project, name="bees", reason="pattern", pattern="honey", order=1)

    def shown(query: str) -> set[str]:
        return set(re.findall(r'<tr id="([a-z0-9_]+)"', tuner.get(f"{HOME}patterns/?{query}").content.decode()))

    assert shown("q=honey") == shown("q=bees") == shown("reason=pattern") == {"bees"}
    assert shown("q=zebra") == shown("q=%00") - shown("q=") == set()
    assert len(shown("")) == 50


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


def test_too_many_days_are_refused(tuner: Client) -> None:
    assert "days" in tuner.post(f"{HOME}patterns/preview/", RULE | {"days": "4000"}).content.decode()


# --- settings


def settings_in(page: str) -> dict[str, str]:
    form = page[page.index('class="settings"') : page.index('id="versions"')]
    found = dict(re.findall(r'<input type="text" name="([\w.]+)"(?: value="([^"]*)")?', form))
    for name, options in re.findall(r'<select name="([\w.]+)">(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="[^"]*" selected>([^<]*)', options)
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


UNFIT = [
    ("dedupe.neighbours", "0", "dedupe neighbours"),
    ("dedupe.neighbours", "many", "dedupe neighbours"),
    ("confidence.review_below", "", "confidence review_below"),
]


def test_a_value_that_does_not_fit_is_refused_by_name(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1"}
    for key, value, said in UNFIT:
        answer = tuner.post(f"{HOME}configuration/change/", given | {key: value})
        assert answer.status_code == 422, (key, value)
        assert said in answer.content.decode()
        assert active(full_project).number == 1


def test_a_refused_form_keeps_what_was_typed_and_marks_the_field(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1", "note": "why not"}
    given |= {"dedupe.neighbours": "many", "confidence.review_below": "0.6"}
    page = tuner.post(f"{HOME}configuration/change/", given).content.decode()
    assert settings_in(page) == {name: text for name, text in given.items() if name not in ("base", "note")}
    assert page.count('aria-invalid="true"') == 1
    assert re.search(r'name="dedupe.neighbours" value="many"[^>]* aria-invalid="true"', page)
    assert 'value="why not"' in page


def test_changes_of_an_outdated_form_are_kept_on_the_active_version(tuner: Client, full_project: Project) -> None:
    given = settings_in(tuner.get(f"{HOME}configuration/").content.decode()) | {"base": "1"}
    tuner.post(f"{HOME}configuration/change/", given | {"dedupe.neighbours": "7"})
    page = tuner.post(f"{HOME}configuration/change/", given | {"confidence.review_below": "0.6"}).content.decode()
    assert active(full_project).number == 2  # refused
    again = settings_in(page)
    assert (again["dedupe.neighbours"], again["confidence.review_below"]) == ("7", "0.6")
    tuner.post(f"{HOME}configuration/change/", again | {"base": "2"})
    policy = active(full_project).as_policy()
    assert (policy.dedupe.neighbours, policy.confidence.review_below) == (7, 0.6)


def test_the_active_version_is_not_returned_to(tuner: Client, full_project: Project) -> None:
    page = tuner.post(f"{HOME}configuration/1/restore/", follow=True).content.decode()
    assert "Nothing was changed" in page
    assert active(full_project).number == 1
