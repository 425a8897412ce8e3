"""All benchmarks by name.

A benchmark is a function `run(*, data: Path, full: bool)` that measures one thing and returns its figures; it raises
FileNotFoundError where its data is missing. It is not a test and never fails a build.
"""

from collections.abc import Callable

from benchmarks import ack, dedupe, drain, locomo, patterns, prefilter, races, search, truth

BENCHMARKS: dict[str, Callable[..., dict[str, object]]] = {
    prefilter.NAME: prefilter.run,
    patterns.NAME: patterns.run,
    ack.NAME: ack.run,
    drain.NAME: drain.run,
    races.NAME: races.run,
    dedupe.NAME: dedupe.run,
    locomo.NAME: locomo.run,
    search.NAME: search.run,
    truth.NAME: truth.run,
}
