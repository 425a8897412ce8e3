"""Template filters for numbers, ratios and reasons."""

from typing import Any

from django import template

from apps.console.labels import percent
from apps.search.selectors.explanations import explain
from apps.traces.funnel_metrics import Band, RatioHealth

register = template.Library()
register.filter("explain", explain)
register.filter("percent", percent)

_TONES = {
    RatioHealth.HEALTHY: "good",
    RatioHealth.OUTSIDE: "wait",
    RatioHealth.ALERT: "bad",
    RatioHealth.UNKNOWN: "plain",
}
_HEALTH_LABELS = {RatioHealth.OUTSIDE: "off target", RatioHealth.UNKNOWN: "too little data"}


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
