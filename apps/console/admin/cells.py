"""HTML for single values: chips, meters, JSON, quotes. Everything is escaped; colours come from the stylesheet."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from apps.alerts.enums import AlertState
from apps.console.labels import duration, label
from apps.pipeline.core.enums import (
    DeliveryState,
    LinkStatus,
    Outcome,
    RollbackState,
    SpanResult,
    Status,
    TraceStatus,
    WorkState,
)
from apps.pipeline.core.identifiers import Prefix, show, with_prefixes

# The stubs accept callables in only some of the places where the admin does, hence not Callable[[Any], str].
Cell = Any

# The tone of a word: good, calm, wait (needs attention), bad; all others are plain.
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
    TraceStatus.ROLLED_BACK: "calm",
    RollbackState.UNDOING: "wait",
    RollbackState.UNDONE: "calm",
    WorkState.PENDING: "wait",
    SpanResult.PASS: "good",
    SpanResult.TRANSFORM: "good",
    SpanResult.REJECT: "calm",
    SpanResult.ERROR: "bad",
    Outcome.STORED: "good",
    LinkStatus.OPEN: "wait",  # of an alert as well
    AlertState.ACKNOWLEDGED: "calm",
    AlertState.RESOLVED: "good",
    DeliveryState.WAITING: "wait",
    DeliveryState.DELIVERED: "good",
    DeliveryState.FAILED: "bad",
    LinkStatus.SETTLED: "good",
}


def chip(word: str) -> SafeString | str:
    """Return a stored word as a coloured label."""
    if not word:
        return ""
    return format_html('<span class="chip chip-{}">{}</span>', _TONES.get(word, "plain"), label(word))


def meter(share: float) -> SafeString:
    """Return a share from 0 to 1 as a bar and a number; red below 0.5, where review starts."""
    return format_html(
        '<span class="share"><meter min="0" max="1" low="0.5" high="0.7" optimum="1" value="{}"></meter> {}</span>',
        f"{share:.4f}",
        f"{share:.2f}",
    )


def pretty(value: Any) -> SafeString | str:
    """Return JSON, indented, its identifiers with prefixes."""
    if value in (None, "", [], {}):
        return ""
    return format_html(
        '<pre class="json" tabindex="0">{}</pre>',
        json.dumps(with_prefixes(value), indent=2, ensure_ascii=False, default=str),
    )


def highlighted(text: str, quote: str) -> SafeString:
    """Return a text with the quote highlighted, if it occurs."""
    before, found, after = text.partition(quote) if quote else (text, "", "")
    return format_html("{}<mark>{}</mark>{}", before, found, after) if found else format_html("{}", text)


def pairs_table(values: Mapping[str, Any]) -> SafeString | str:
    """Return names and values as a table."""
    rows = format_html_join("", "<tr><th>{}</th><td>{}</td></tr>", ((name, value) for name, value in values.items()))
    return format_html('<table class="sum">{}</table>', rows) if rows else ""


def links(*given: SafeString) -> SafeString:
    """Join links with a separator."""
    return format_html_join(" · ", "{}", ((link,) for link in given))


def rows_table(rows: Sequence[Mapping[str, Any]], **columns: str) -> SafeString | str:
    """Return rows as a table; `columns` maps keys to headings."""
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


def changelist_link(model: str, text: str, **filters: Any) -> SafeString:
    """Return a link to a filtered changelist; `model` is for example memories_memory."""
    return format_html('<a href="{}?{}">{}</a>', reverse(f"admin:{model}_changelist"), urlencode(filters), text)


def _named(cell: Cell, field: str) -> Cell:
    """Name a column after its field; the admin derives the CSS class from it."""
    cell.__name__ = field
    return cell


def identifier_column(prefix: Prefix, field: str = "pk", heading: str = "id") -> Cell:
    """Return a column for a public identifier."""

    @admin.display(description=heading, ordering=field)
    def cell(row: Any) -> str:
        identifier: UUID | None = getattr(row, field)
        return show(prefix, identifier) if identifier else ""

    return _named(cell, field)


def chip_column(field: str, heading: str = "") -> Cell:
    """Return a column for a field with a stored word."""

    @admin.display(description=heading or field.replace("_", " "), ordering=field)
    def cell(row: Any) -> SafeString | str:
        return chip(getattr(row, field))

    return _named(cell, field)


def meter_column(field: str) -> Cell:
    """Return a column for a share from 0 to 1."""

    @admin.display(description=field, ordering=field)
    def cell(row: Any) -> SafeString:
        return meter(getattr(row, field))

    return _named(cell, field)


def json_column(field: str) -> Cell:
    """Return a column for a JSON field."""

    @admin.display(description=field.replace("_", " "))
    def cell(row: Any) -> SafeString | str:
        return pretty(getattr(row, field))

    return _named(cell, field)


def latency_column(field: str = "latency_us") -> Cell:
    """Return a column for a latency in microseconds."""

    @admin.display(description="latency", ordering=field)
    def cell(row: Any) -> str:
        return duration(getattr(row, field))

    return _named(cell, field)


def truncated_column(field: str, characters: int = 120) -> Cell:
    """Return a column for the start of a text."""

    @admin.display(description=field.replace("_", " "), ordering=field)
    def cell(row: Any) -> str:
        text = str(getattr(row, field))
        return text if len(text) <= characters else f"{text[: characters - 1]}…"

    return _named(cell, field)
