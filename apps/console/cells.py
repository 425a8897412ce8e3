"""HTML for single values: chips, meters, JSON, quotes. Everything is escaped; colours come from the stylesheet."""

import json
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.alerts.enums import AlertState
from apps.console.labels import label
from apps.events.enums import DeliveryState
from apps.pipeline.core.enums import LinkStatus, Outcome, RollbackState, SpanResult, Status, TraceStatus, WorkState
from apps.pipeline.core.identifiers import with_prefixes

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
