"""What the pages of the console are made of: periods, funnels, reasons in words, settings."""

from datetime import UTC, datetime

import pytest
from django.http import QueryDict

from apps.console.labels import label
from apps.health.periods import DashboardRange, dashboard_period
from apps.health.selectors import fates_of
from apps.pipeline.core.enums import Reason, Stage
from apps.pipeline.core.policy import Policy
from apps.retrieval.selectors import explain
from apps.traces.funnel_metrics import Measure, Tallies
from apps.tuning.forms import Setting, SettingsForm

NOW = datetime(2026, 3, 5, 14, 25, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("range_", "first", "last", "count"),
    [
        (DashboardRange.HOUR, datetime(2026, 3, 5, 13, 25, tzinfo=UTC), datetime(2026, 3, 5, 14, 20, tzinfo=UTC), 12),
        (DashboardRange.DAY, datetime(2026, 3, 4, 14, tzinfo=UTC), datetime(2026, 3, 5, 14, tzinfo=UTC), 25),
        (DashboardRange.WEEK, datetime(2026, 2, 26, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC), 8),
        (DashboardRange.MONTH, datetime(2026, 2, 3, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC), 31),
        (DashboardRange.QUARTER, datetime(2025, 12, 8, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC), 13),
    ],
)
def test_a_period_ends_with_the_running_step(
    range_: DashboardRange, first: datetime, last: datetime, count: int
) -> None:
    steps = dashboard_period(range_, now=NOW).steps
    assert (steps[0], steps[-1], len(steps)) == (first, last, count)


def test_the_last_hour_of_a_busy_project_is_told_by_hours() -> None:
    period = dashboard_period(DashboardRange.HOUR, now=NOW, is_busy=True)
    assert (period.name, len(period.steps), period.is_exact) == ("this hour and the last", 2, False)
    assert dashboard_period(DashboardRange.HOUR, now=NOW).name == "the last hour"


def test_each_turn_has_one_fate() -> None:
    sums = {
        (Measure.TURNS, "", ""): 20.0,
        (Measure.DROPS, Stage.PRE_FILTER, Reason.UNTRUSTED_ROLE): 8.0,
        (Measure.DROPS, Stage.PRE_FILTER, Reason.GREETING): 3.0,
        (Measure.DROPS, Stage.EXTRACT, Reason.NO_CANDIDATE): 2.0,
        (Measure.NEW_TURNS, "", ""): 4.0,
    }
    fates = fates_of(Tallies(sums))
    assert list(fates.values()) == [4, 3, 2, 3, 8]
    assert sum(fates.values()) == 20


def test_every_reason_is_said_in_words() -> None:
    assert [reason for reason in Reason if explain(reason) == reason.replace("_", " ")] == []


def test_a_rules_own_reason_names_the_rule_and_an_unknown_one_stands_as_it_is() -> None:
    assert explain("pattern:shop_talk").endswith("(shop_talk)")
    assert explain("no_such_reason") == "no such reason"


def settings(policy: Policy | None = None) -> dict[str, Setting]:
    sections = SettingsForm(policy or Policy()).sections()
    return {setting.field.name: setting for section in sections for setting in section.settings}


def filled(key: str, given: list[str]) -> SettingsForm:
    """Return the form as a browser sends it, with one other value."""
    form = SettingsForm(Policy())
    data = QueryDict(mutable=True)
    for name, field in form.fields.items():
        value = field.prepare_value(field.initial)
        if value is not False:
            data.setlist(name, value if isinstance(value, list) else [value])
    data.setlist(key, given)
    return SettingsForm(Policy(), data)


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        ("pre_filter.min_letters", ["3"], 3),
        ("confidence.review_below", [" 0.6 "], 0.6),
        ("pre_filter.trusted_roles", ["user", "system"], ["user", "system"]),
        ("extraction.model", ["anthropic:x"], "anthropic:x"),
        ("redaction.phone_regions", ["US, AT CH"], ["US", "AT", "CH"]),
        ("redaction.custom", ['[{"name": "a", "pattern": "b"}]'], [{"name": "a", "pattern": "b"}]),
    ],
)
def test_what_a_form_sends_is_read_as_its_kind(key: str, given: list[str], value: object) -> None:
    form = filled(key, given)
    assert form.is_valid(), form.errors
    assert form.changes() == {tuple(key.split(".")): value}


def test_every_setting_has_a_plain_name_of_its_own() -> None:
    names = [(setting.path[0], setting.field.label) for setting in settings().values()]
    assert not [name for _, name in names if "_" in name]
    assert len(set(names)) == len(names)
    unnamed = [key for key, each in settings().items() if each.field.label == " ".join(map(label, each.path[1:]))]
    assert unnamed == []


def test_a_setting_tells_its_default_and_whether_it_was_changed() -> None:
    pre_filter = Policy().pre_filter.model_copy(update={"min_letters": 7})
    found = settings(Policy().model_copy(update={"pre_filter": pre_filter}))
    changed = found["pre_filter.min_letters"]
    assert (changed.is_custom, changed.value, changed.default_text) == (True, 7, "2")
    assert [key for key, setting in found.items() if setting.is_custom] == ["pre_filter.min_letters"]
    assert found["judges.pairs"].default_text == "on"
    assert found["pre_filter.trusted_roles"].default_text == "user"


def test_every_section_of_the_settings_has_a_description() -> None:
    assert all(section.about for section in SettingsForm(Policy()).sections())
