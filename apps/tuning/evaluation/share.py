"""A share of cases with its 95 % confidence interval."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole with the limits between which it lies at 95 % confidence; all None if the whole is empty."""

    part: float
    whole: float
    value: float | None = None
    low: float | None = None
    high: float | None = None


def share_of(*, part: int, whole: int, confidence: float = CONFIDENCE) -> Share:
    """Return a share with its Wilson score interval.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927). With z for the confidence, the centre is (p + z²/2n) / (1 + z²/n) and
    the half width z / (1 + z²/n) · √(p(1−p)/n + z²/4n²). It stays between 0 and 1, and holds for small samples and for
    shares near 0 or 1.
    """
    if not whole:
        return Share(part, whole)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    value, scale = part / whole, 1 + z * z / whole
    centre = (value + z * z / (2 * whole)) / scale
    half = z / scale * sqrt(value * (1 - value) / whole + z * z / (4 * whole * whole))
    # Exact at the ends, where rounding would leave a limit beside the value.
    low = 0.0 if part == 0 else centre - half
    high = 1.0 if part == whole else centre + half
    return Share(part, whole, value, low, high)
