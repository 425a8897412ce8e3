"""All benchmarks by name.

A benchmark is a function `run(*, data: Path, full: bool)` that measures one thing and returns its figures; it raises
FileNotFoundError where its data is missing. It is not a test and never fails a build.
"""

from collections.abc import Callable

from benchmarks import (
    ack,
    dedupe,
    drain,
    erase,
    hostile,
    locomo,
    patterns,
    poisoning,
    prefilter,
    races,
    redaction,
    replay,
    scale,
    search,
    truth,
)

BENCHMARKS: dict[str, Callable[..., dict[str, object]]] = {
    prefilter.NAME: prefilter.run,
    patterns.NAME: patterns.run,
    hostile.NAME: hostile.run,
    ack.NAME: ack.run,
    drain.NAME: drain.run,
    races.NAME: races.run,
    erase.NAME: erase.run,
    dedupe.NAME: dedupe.run,
    locomo.NAME: locomo.run,
    search.NAME: search.run,
    poisoning.NAME: poisoning.run,
    redaction.NAME: redaction.run,
    truth.NAME: truth.run,
    replay.NAME: replay.run,
    scale.NAME: scale.run,
}
