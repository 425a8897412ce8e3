"""How many examples tests try: few in ordinary runs, many in `make soak`."""

import os

SOAK_TURNS = int(os.environ.get("SOAK_TURNS", "0"))  # 0: an ordinary run
EXAMPLES = int(os.environ.get("EXAMPLES", "0"))  # another number, for single files


def examples(ordinary: int, *, soak: int = 0) -> int:
    """Return the number of examples that Hypothesis draws if each takes long; in a soak 20 times as many, or `soak`."""
    return EXAMPLES or (soak or ordinary * 20 if SOAK_TURNS else ordinary)


def is_soak() -> bool:
    """Return True in `make soak`."""
    return bool(SOAK_TURNS)


def pauses(most: int) -> range:
    """Return before which of its statements, by number, a writer pauses: all in `make soak`, else each second."""
    return range(0, most, 1 if SOAK_TURNS else 2)
