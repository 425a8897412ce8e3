"""What the pages of the console are made of: periods, funnels, reasons in words, settings."""

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from django import forms
from django.http import QueryDict
from django.utils import timezone

from apps.console.labels import count_of, label, percent, time_since
from apps.console.templatetags.console import band_text
from apps.health.periods import DashboardRange, dashboard_period
from apps.health.selectors import TurnFate, fates_of
from apps.pipeline.core.enums import Reason, Stage
from apps.pipeline.core.policy import Policy
from apps.search.selectors.explanations import explain
from apps.traces.funnel_metrics import Band, Measure, Tallies
from apps.tuning.selectors.configuration import Setting, SettingsForm

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


def test_turns_that_are_extracted_in_a_later_hour_make_no_count_negative() -> None:
    assert fates_of(Tallies({(Measure.NEW_TURNS, "", ""): 4.0}))[TurnFate.KNOWN] == 0


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


def test_every_setting_but_the_rules_is_there_with_its_kind() -> None:
    found, fields = settings(), SettingsForm(Policy()).fields
    assert not any(key.startswith("pre_filter.rules") for key in found)
    assert (type(fields["pre_filter.min_letters"]), found["pre_filter.min_letters"].value) == (forms.IntegerField, 2)
    assert type(fields["confidence.review_below"]) is forms.FloatField
    assert type(fields["confidence.source.direct"]) is forms.FloatField
    roles = cast(forms.MultipleChoiceField, fields["pre_filter.trusted_roles"])
    assert [each for each in ("user", "assistant", "tool", "system", "nobody") if not roles.valid_value(each)] == [
        "nobody"
    ]
    assert type(fields["extraction.extractor"]) is forms.ChoiceField
    assert "too_short" in fields["pre_filter.min_letters"].help_text


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


@pytest.mark.parametrize("given", [[], [""], ["many"], ["2.5"]])
def test_what_is_no_number_is_refused(given: list[str]) -> None:
    assert filled("pre_filter.min_letters", given).problem == "pre_filter min_letters: must be a number"


@pytest.mark.parametrize(("number", "text"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (1_000, "1,000 turns")])
def test_a_count_agrees_with_its_noun(number: int, text: str) -> None:
    assert count_of(number, "turn") == text


def test_an_irregular_plural_is_given() -> None:
    assert (count_of(1, "entry", "entries"), count_of(2, "entry", "entries")) == ("1 entry", "2 entries")


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "–"), (0.0, "0%"), (0.002, "0.20%"), (0.034, "3.4%"), (0.1, "10%"), (0.456, "46%"), (1.0, "100%")],
)
def test_small_shares_keep_their_significant_digits(share: float | None, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("band", "text"),
    [(Band(0.3, 0.5), "30% to 50%"), (Band(0.0, 0.002), "at most 0.20%"), (Band(0.85, 1.0), "at least 85%")],
)
def test_a_band_is_never_shown_as_empty(band: Band, text: str) -> None:
    assert band_text(band) == text


@pytest.mark.parametrize(
    ("word", "text"), [("dead", "failed"), ("resolve_refs", "resolve names"), ("pending_review", "pending review")]
)
def test_stored_words_have_labels(word: str, text: str) -> None:
    assert label(word) == text


def test_every_setting_has_a_plain_name_of_its_own() -> None:
    names = [(setting.path[0], setting.plain.name) for setting in settings().values()]
    assert not [name for _, name in names if "_" in name]
    assert len(set(names)) == len(names)
    unnamed = [key for key, each in settings().items() if each.plain.name == " ".join(map(label, each.path[1:]))]
    assert unnamed == []


@pytest.mark.parametrize(
    ("key", "name", "unit", "allowed"),
    [
        ("pre_filter.scan_characters", "Rules read at most", "characters", "100 to 20000"),
        ("pre_filter.min_letters", "Least letters of a turn", "letters or digits", "at least 0"),
        ("dedupe.bands.wordllama.unsure", "wordllama: unsure from", "similarity, −1 to 1", "-1 to 1"),
        ("retrieval.weights.named", "Verbatim texts: a named subject", "weight", "at least 0"),
        ("decay.half_life_days.event", "Freshness halves in, for the type event", "days", ""),
    ],
)
def test_a_setting_is_described(key: str, name: str, unit: str, allowed: str) -> None:
    found = settings()[key]
    assert (found.plain.name, found.plain.unit, found.allowed) == (name, unit, allowed)


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


def test_what_is_long_ago_is_a_date() -> None:
    now = timezone.now()
    assert time_since(now - timedelta(days=29, hours=1)) == "29 d ago"
    assert time_since(now - timedelta(days=31)) == f"{now - timedelta(days=31):%Y-%m-%d}"
