"""Numbers as people read them, in the console and in messages."""

from datetime import timedelta


def noun_for(number: int, singular: str, plural: str = "") -> str:
    """Return the noun in the form that agrees with a number."""
    return singular if number == 1 else plural or f"{singular}s"


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: "1 turn", "2 turns"."""
    return f"{number:,} {noun_for(number, singular, plural)}"


def percent(share: float | None) -> str:
    """Format a share from 0 to 1 in percent; the smaller it is, the more decimals."""
    if share is None:
        return "–"
    decimals = 0 if share >= 0.1 or share == 0 else 1 if share >= 0.01 else 2
    return f"{share:.{decimals}%}"


def duration(microseconds: int) -> str:
    """Format a duration given in microseconds."""
    if microseconds < 1_000:
        return f"{microseconds} µs"
    if microseconds < 1_000_000:
        return f"{microseconds / 1_000:.1f} ms"
    if microseconds < 60_000_000:
        return f"{microseconds / 1_000_000:.1f} s"
    return str(timedelta(seconds=round(microseconds / 1_000_000)))


_AGES = ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h"))


def age(seconds: float) -> str:
    """Format an age given in seconds, in the largest unit of which there are at least two: "90 s", "12 min", "3 h"."""
    for limit, unit, name in _AGES:
        if seconds < limit:
            return f"{seconds // unit:.0f} {name}"
    return f"{seconds // 86_400:.0f} d"
