"""Template filters for numbers, ratios and reasons."""

from typing import Any

from django import template

from apps.console.labels import percent
from apps.console.selectors.dashboard import band_text
from apps.console.selectors.reasons import explain
from apps.pipeline.measures import Health

register = template.Library()
register.filter("explain", explain)
register.filter("percent", percent)
register.filter("band_text", band_text)

_TONES = {Health.HEALTHY: "good", Health.OUTSIDE: "wait", Health.ALERT: "bad", Health.UNKNOWN: "plain"}
_HEALTH_LABELS = {Health.OUTSIDE: "off target", Health.UNKNOWN: "no data"}


@register.filter
def health_tone(health: Health) -> str:
    """Return the colour name of a health."""
    return _TONES[health]


@register.filter
def health_label(health: Health) -> str:
    """Return the label of a health."""
    return _HEALTH_LABELS.get(health, health.value)


@register.filter
def get(values: dict[str, Any], key: str) -> Any:
    """Look up a key held in a template variable."""
    return values.get(key)
