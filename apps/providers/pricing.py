"""Costs of calls, from the price table in the settings."""

from collections.abc import Mapping
from decimal import Decimal

from apps.pipeline.core.model_calls import Usage

_MILLION = Decimal(1_000_000)
# Shares of the input price, used if a table has no price for the cache.
_CACHE_READ, _CACHE_WRITE = Decimal("0.1"), Decimal("1.25")


def price_of(name: str, *, prices: Mapping[str, Mapping[str, float]]) -> Mapping[str, float] | None:
    """Return the prices of a model, or of the family that its dated name begins with."""
    return prices.get(name) or next((prices[each] for each in prices if name.startswith(f"{each}-")), None)


def cost_of(usage: Usage, *, name: str, prices: Mapping[str, Mapping[str, float]]) -> Decimal:
    """Return the cost of a call in dollars; 0 for a model without a price."""
    price = price_of(name, prices=prices)
    if price is None:
        return Decimal(0)
    read, written = Decimal(str(price["input"])), Decimal(str(price["output"]))
    cache_read = Decimal(str(price.get("cache_read", read * _CACHE_READ)))
    cache_write = Decimal(str(price.get("cache_write", read * _CACHE_WRITE)))
    total = (
        usage.input * read + usage.output * written + usage.cache_read * cache_read + usage.cache_write * cache_write
    )
    return total / _MILLION
