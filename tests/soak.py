"""How much `make soak` does more than `make test`: examples of properties, pauses between statements, turns."""

import os

from hypothesis import HealthCheck, settings

SOAK_TURNS = int(os.environ.get("SOAK_TURNS", "0"))  # 0: an ordinary run
STRIDE = 13  # of so many statements, an ordinary run pauses a writer before one

# Tests have no deadlines, and an ordinary run is repeatable: its examples are always the same.
_ALWAYS = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("ci", max_examples=20, derandomize=True, **_ALWAYS)
settings.register_profile("soak", max_examples=500, **_ALWAYS)


def load_profile() -> None:
    """Let Hypothesis draw as many examples as this run is meant to."""
    settings.load_profile("soak" if SOAK_TURNS else "ci")


def few() -> int:
    """Return the number of examples of a property whose every example fills a database: a quarter of the profile's."""
    return int(settings.default.max_examples) // 4


def is_soak() -> bool:
    """Return True in `make soak`."""
    return bool(SOAK_TURNS)


def pauses(most: int) -> range:
    """Return before which of its statements, by number, a writer pauses: all in `make soak`, else one of STRIDE."""
    return range(0, most, 1 if SOAK_TURNS else STRIDE)
