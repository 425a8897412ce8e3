"""Template filters and tags of the console, which every template has.

All that becomes HTML is escaped; colours come from the stylesheet.
"""

import json
import re
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.template import Context
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from apps.alerts.enums import AlertState
from apps.alerts.verdict import Advice
from apps.console.labels import duration, label, percent, time_since
from apps.events.enums import DeliveryState
from apps.memories.models import Memory
from apps.pipeline.core.enums import LinkStatus, Outcome, RollbackState, SpanResult, Status, TraceStatus, WorkState
from apps.pipeline.core.identifiers import with_prefixes
from apps.retrieval.selectors import explain
from apps.review.selectors.comparisons import older_first, settlement_text
from apps.traces.funnel_metrics import Band, RatioHealth

register = template.Library()
_IDENTIFIER = re.compile(r"[a-z]{3}_[0-9a-f]{32}")
register.filter("path_of", Advice.path)
register.filter("duration", duration)
register.filter("explain", explain)
register.filter("label", label)
register.filter("older_first", older_first)
register.filter("percent", percent)
register.filter("settlement", settlement_text)


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
    RatioHealth.HEALTHY: "good",
    RatioHealth.OUTSIDE: "wait",
    RatioHealth.ALERT: "bad",
    RatioHealth.UNKNOWN: "plain",
}


@register.filter
def chip(word: str) -> SafeString | str:
    """Return a stored word as a coloured label."""
    if not word:
        return ""
    return format_html('<span class="chip chip-{}">{}</span>', _TONES.get(word, "plain"), label(word))


@register.filter
def meter(share: float) -> SafeString:
    """Return a share from 0 to 1 as a bar and a number; red below 0.5, where review starts."""
    return format_html(
        '<span class="share"><meter min="0" max="1" low="0.5" high="0.7" optimum="1" value="{}"></meter> {}</span>',
        f"{share:.4f}",
        f"{share:.2f}",
    )


@register.filter
def pretty(value: Any) -> SafeString | str:
    """Return JSON, indented, its identifiers with prefixes."""
    if value in (None, "", [], {}):
        return ""
    return format_html(
        '<pre class="json" tabindex="0">{}</pre>',
        json.dumps(with_prefixes(value), indent=2, ensure_ascii=False, default=str),
    )


@register.filter
def highlighted(text: str, quote: str) -> SafeString:
    """Return a text with the quote highlighted, if it occurs."""
    before, found, after = text.partition(quote) if quote else (text, "", "")
    return format_html("{}<mark>{}</mark>{}", before, found, after) if found else format_html("{}", text)


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return an icon of the sprite; a text next to it has the meaning."""
    sprite = static("memplatform/icons.svg")
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', sprite, name)


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """Return how long ago a moment was, with the exact time as a tooltip."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        time_since(moment),
    )


@register.filter
def day(moment: datetime | None) -> SafeString | str:
    """Return the date of a moment, with the time as a tooltip."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), f"{moment:%H:%M} UTC", f"{moment:%Y-%m-%d}"
    )


@register.filter
def shortened(text: str) -> str:
    """Return the end of an identifier, as lists show it, and the first 40 characters of anything else."""
    return f"…{text[-6:]}" if _IDENTIFIER.fullmatch(text) else Truncator(text).chars(40)


@register.filter
def said(text: str) -> SafeString:
    """Return words of a user or an agent as an element of their own."""
    return format_html('<span class="said" hx-disable>{}</span>', text)


@register.filter
def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "turn" gets an s as a plural, "memory,memories" says what the plural is."""
    one, _, several = noun.partition(",")
    return f"{number} {one if number == 1 else several or f'{one}s'}"


@register.simple_tag(takes_context=True)
def url_with(context: Context, **changes: Any) -> str:
    """Return the URL of the page with some query parameters changed; an empty value removes a parameter."""
    return f"{context['request'].path}?{query_with(context, **changes)}"


@register.simple_tag(takes_context=True)
def url_with_value(context: Context, name: str, value: str) -> str:
    """Return the URL of the first page of the list with one query parameter changed."""
    return url_with(context, **{"page": "", name: value})


@register.simple_tag(takes_context=True)
def query_with(context: Context, **changes: Any) -> str:
    """Return the query string of the page with some parameters changed; an empty value removes a parameter."""
    request: HttpRequest = context["request"]
    query = {name: request.GET[name] for name in request.GET} | changes
    return urlencode({name: value for name, value in query.items() if value not in ("", None)})


@register.filter
def confidence_sum(memory: Memory) -> dict[str, Any]:
    """Return the non-zero parts of a memory's confidence in the order of the formula, and the total in percent.

    `start` and `width` place the bar of a part behind that of the part before it, in percent.
    """
    parts: list[dict[str, Any]] = []
    reached = 0.0
    for name, heading in _PART_LABELS.items():
        value = memory.confidence_parts.get(name)
        if not value:
            continue
        start = min(reached, reached + value)
        width = _percent(min(abs(value), 1.0 - start))
        part = {"name": heading, "value": value, "start": _percent(start), "width": width}
        parts.append(part | {"is_review": name == "review"})  # what the approval of a person adds
        reached += value
    cap = memory.confidence_parts.get("capped_at")
    return {"parts": parts, "cap": cap, "total": _percent(memory.confidence)}


_PART_LABELS = {
    "source": "source",
    "extractor": "extractor",
    "recurrence": "repetition",
    "grounding": "support by the turns",
    "adjustment": "manual adjustment",
    "review": "approved",
}


def _percent(share: float) -> float:
    return round(min(max(share, 0.0), 1.0) * 100, 1)


_HEALTH_LABELS = {RatioHealth.OUTSIDE: "off target", RatioHealth.UNKNOWN: "too little data"}


@register.filter
def limits(share: Any) -> str:
    """Return the limits of 95 % confidence of a share as text; empty if nothing is known."""
    return f"{percent(share.low)} to {percent(share.high)}" if share.low is not None else ""


@register.filter
def band_text(band: Band) -> str:
    """Return the range of a healthy band as text."""
    if band.low <= 0:
        return f"at most {percent(band.high)}"
    return f"at least {percent(band.low)}" if band.high >= 1 else f"{percent(band.low)} to {percent(band.high)}"


@register.filter
def health_tone(health: RatioHealth) -> str:
    """Return the colour name of a health."""
    return _TONES[health]


@register.filter
def health_label(health: RatioHealth) -> str:
    """Return the label of a health."""
    return _HEALTH_LABELS.get(health, health.value)


@register.filter
def get(values: dict[str, Any], key: str) -> Any:
    """Look up a key held in a template variable."""
    return values.get(key)
