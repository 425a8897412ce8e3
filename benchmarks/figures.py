"""Percentiles."""

from collections.abc import Sequence


def quantile(values: Sequence[float], share: float) -> float:
    """Return the percentile of values for a share from 0 to 1 (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50_ms, p95_ms and p99_ms of durations in seconds."""
    return {f"p{round(share * 100)}_ms": round(quantile(seconds, share) * 1_000, 2) for share in (0.50, 0.95, 0.99)}
