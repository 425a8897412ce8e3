"""How values look in the console's templates."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import template
from django.http import HttpRequest
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.admin import cells
from apps.memories.models import Memory
from apps.pipeline.core.identifiers import Prefix, show

register = template.Library()
register.filter("chip", cells.chip)
register.filter("meter", cells.meter)
register.filter("marked", cells.marked)
register.filter("pretty", cells.pretty)
register.filter("duration", cells.duration)

_STEPS = ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"), (86_400 * 30, 86_400, "d"))


@register.simple_tag
def icon(name: str) -> SafeString:
    """Show a symbol of the sprite; words beside it say what it means."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', _sprite(), name)


def _sprite() -> str:
    return static("memplatform/icons.svg")


@register.filter
def spaced(word: Any) -> str:
    """Show a word of the glossary with spaces."""
    return str(word).replace("_", " ")


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """Show how long ago something was, the exact time on hovering."""
    if moment is None:
        return ""
    seconds = (timezone.now() - moment).total_seconds()
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        _distance(seconds) if seconds >= 0 else f"{moment:%Y-%m-%d}",
    )


def _distance(seconds: float) -> str:
    for below, unit, name in _STEPS:
        if seconds < below:
            return f"{math.floor(seconds / unit)} {name} ago"
    return f"{math.floor(seconds / 86_400)} d ago"


@register.filter
def day(moment: datetime | None) -> SafeString | str:
    """Show a day, the exact time on hovering."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), f"{moment:%H:%M} UTC", f"{moment:%Y-%m-%d}"
    )


@register.filter
def as_memory(identifier: UUID) -> str:
    """Show the identifier of a memory with its prefix."""
    return show(Prefix.MEMORY, identifier)


@register.simple_tag(takes_context=True)
def address_with(context: dict[str, Any], **changes: Any) -> str:
    """Return the page's own address with some of its query changed; an empty value takes a name out."""
    request: HttpRequest = context["request"]
    query = {name: request.GET[name] for name in request.GET} | changes
    return f"{request.path}?{urlencode({name: value for name, value in query.items() if value not in ('', None)})}"


@dataclass(frozen=True, slots=True)
class Part:
    """One addend of a confidence, and where its bar begins and how wide it is, in hundredths."""

    name: str
    value: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Sum:
    """A confidence as the sum of its parts."""

    parts: tuple[Part, ...]
    cap: float | None
    total: float


@register.filter
def sum_of(memory: Memory) -> Sum:
    """Lay the parts of a memory's confidence end to end, those that are nothing left out."""
    parts: list[Part] = []
    reached = 0.0
    for name, value in memory.confidence_parts.items():
        if name == "capped_at" or not value:
            continue
        start = min(reached, reached + value)
        parts.append(Part(_ADDENDS.get(name, name), value, _hundredths(start), _hundredths(abs(value))))
        reached += value
    return Sum(tuple(parts), memory.confidence_parts.get("capped_at"), _hundredths(memory.confidence))


_ADDENDS = {
    "source": "how it was said",
    "extractor": "who found it",
    "recurrence": "said again",
    "grounding": "what the turns support",
    "adjustment": "corrected",
}


def _hundredths(share: float) -> float:
    return round(min(max(share, 0.0), 1.0) * 100, 1)
