"""How a value looks in a cell: chips, meters, JSON, quotes. All of it is escaped; colours come from the stylesheet."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from apps.pipeline.core.enums import LinkStatus, Outcome, SpanResult, Status, TraceStatus, WorkState
from apps.pipeline.core.identifiers import Prefix, show

# The stubs know callables in a few of the places only where the admin takes them, hence not Callable[[Any], str].
Cell = Any

# The tone of a word: good, calm, wait (someone has to look), bad; any other is plain.
_TONES: dict[str, str] = {
    Status.ACTIVE: "good",
    Status.PENDING_REVIEW: "wait",
    Status.SUPERSEDED: "calm",
    Status.REJECTED: "bad",
    Status.RETRACTED: "bad",
    TraceStatus.QUEUED: "wait",
    TraceStatus.DONE: "good",
    TraceStatus.EXTRACTION_FAILED: "bad",
    TraceStatus.DEAD: "bad",
    WorkState.PENDING: "wait",
    SpanResult.PASS: "good",
    SpanResult.TRANSFORM: "good",
    SpanResult.REJECT: "calm",
    SpanResult.ERROR: "bad",
    Outcome.STORED: "good",
    LinkStatus.OPEN: "wait",
    LinkStatus.SETTLED: "good",
}


def chip(word: str) -> SafeString | str:
    """Show a word of the glossary in its colour."""
    if not word:
        return ""
    return format_html('<span class="chip chip-{}">{}</span>', _TONES.get(word, "plain"), word.replace("_", " "))


def meter(share: float) -> SafeString:
    """Show a share from 0 to 1 as a bar and a number: red below 0.5, where a person has to look."""
    return format_html(
        '<span class="share"><meter min="0" max="1" low="0.5" high="0.7" optimum="1" value="{}"></meter> {}</span>',
        f"{share:.4f}",
        f"{share:.2f}",
    )


def pretty(value: Any) -> SafeString | str:
    """Show JSON over several lines."""
    if value in (None, "", [], {}):
        return ""
    return format_html(
        '<pre class="json" tabindex="0">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False, default=str)
    )


def duration(microseconds: int) -> str:
    """Show a time that was measured in microseconds."""
    if microseconds < 1_000:
        return f"{microseconds} µs"
    if microseconds < 1_000_000:
        return f"{microseconds / 1_000:.1f} ms"
    return str(timedelta(seconds=round(microseconds / 1_000_000)))


def marked(text: str, quote: str) -> SafeString:
    """Show a text with the quote in it highlighted, where it is there."""
    before, found, after = text.partition(quote) if quote else (text, "", "")
    return format_html("{}<mark>{}</mark>{}", before, found, after) if found else format_html("{}", text)


def table_of(values: Mapping[str, Any]) -> SafeString | str:
    """Show names with their values, one a line."""
    rows = format_html_join("", "<tr><th>{}</th><td>{}</td></tr>", ((name, value) for name, value in values.items()))
    return format_html('<table class="sum">{}</table>', rows) if rows else ""


def links(*given: SafeString) -> SafeString:
    """Show links side by side."""
    return format_html_join(" · ", "{}", ((link,) for link in given))


def columns_of(rows: Sequence[Mapping[str, Any]], **columns: str) -> SafeString | str:
    """Show rows as a table: the names of the columns by the keys that they show, words of the glossary as chips."""
    if not rows:
        return ""
    head = format_html_join("", "<th>{}</th>", ((name,) for name in columns.values()))
    body = format_html_join(
        "",
        "<tr>{}</tr>",
        ((format_html_join("", "<td>{}</td>", ((_cell(row, key),) for key in columns)),) for row in rows),
    )
    return format_html('<table class="rows"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', head, body)


def _cell(row: Mapping[str, Any], key: str) -> SafeString | str:
    value = row.get(key)
    return chip(value) if key in ("outcome", "status") and value else "" if value is None else str(value)


def link_to_list(model: str, label: str, **filters: Any) -> SafeString:
    """Link to a list of the admin, filtered; `model` is such as memories_memory."""
    return format_html('<a href="{}?{}">{}</a>', reverse(f"admin:{model}_changelist"), urlencode(filters), label)


def _named(cell: Cell, field: str) -> Cell:
    """Name a cell after its field: the page names its column's class by it."""
    cell.__name__ = field
    return cell


def shown(prefix: Prefix, field: str = "pk", label: str = "id") -> Cell:
    """Make a cell of an identifier with its prefix."""

    @admin.display(description=label, ordering=field)
    def cell(row: Any) -> str:
        identifier: UUID | None = getattr(row, field)
        return show(prefix, identifier) if identifier else ""

    return _named(cell, field)


def chipped(field: str, label: str = "") -> Cell:
    """Make a cell of a field that holds a word of the glossary."""

    @admin.display(description=label or field.replace("_", " "), ordering=field)
    def cell(row: Any) -> SafeString | str:
        return chip(getattr(row, field))

    return _named(cell, field)


def metered(field: str) -> Cell:
    """Make a cell of a field that holds a share."""

    @admin.display(description=field, ordering=field)
    def cell(row: Any) -> SafeString:
        return meter(getattr(row, field))

    return _named(cell, field)


def as_json(field: str) -> Cell:
    """Make a cell of a JSON field."""

    @admin.display(description=field.replace("_", " "))
    def cell(row: Any) -> SafeString | str:
        return pretty(getattr(row, field))

    return _named(cell, field)


def took(field: str = "latency_us") -> Cell:
    """Make a cell of a measured time."""

    @admin.display(description="took", ordering=field)
    def cell(row: Any) -> str:
        return duration(getattr(row, field))

    return _named(cell, field)


def shortened(field: str, characters: int = 120) -> Cell:
    """Make a cell of the beginning of a text."""

    @admin.display(description=field.replace("_", " "), ordering=field)
    def cell(row: Any) -> str:
        text = str(getattr(row, field))
        return text if len(text) <= characters else f"{text[: characters - 1]}…"

    return _named(cell, field)
