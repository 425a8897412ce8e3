"""How long tests try: a while in ordinary runs, for longer in `make soak`."""

import os

SOAK_TURNS = int(os.environ.get("SOAK_TURNS", "0"))  # 0: an ordinary run


def examples(ordinary: int) -> int:
    """Return how many examples Hypothesis draws where one takes long."""
    return ordinary * 20 if SOAK_TURNS else ordinary


def is_soak() -> bool:
    """Return True in `make soak`."""
    return bool(SOAK_TURNS)
