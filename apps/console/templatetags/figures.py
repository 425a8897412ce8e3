"""How numbers look in the console's templates."""

from typing import Any

from django import template

from apps.console.selectors.reasons import explain
from apps.pipeline.core.funnel_metrics import RatioHealth

register = template.Library()
register.filter("explain", explain)

_TONES = {
    RatioHealth.HEALTHY: "good",
    RatioHealth.OUTSIDE: "wait",
    RatioHealth.ALERT: "bad",
    RatioHealth.UNKNOWN: "plain",
}


@register.filter
def percent(share: float | None) -> str:
    """Show a share from 0 to 1, a small one with a decimal."""
    if share is None:
        return "–"
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


@register.filter
def tone(health: RatioHealth) -> str:
    """Return the colour of a share's health."""
    return _TONES[health]


@register.filter
def get(values: dict[str, Any], key: str) -> Any:
    """Return a value by a key that a template holds in a variable."""
    return values.get(key)
