"""What happened in a trace, in a few sentences, and its model calls by purpose."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.console.labels import count_of, duration, label
from apps.pipeline.core.enums import Outcome, Reason, TraceStatus
from apps.traces.models import ModelCall, Span, Trace, Turn

_MOST_REASONS = 4
_ENDINGS = {
    Outcome.STORED: "stored",
    Outcome.MERGED: "merged into known memories",
    Outcome.PENDING_REVIEW: "stored for review",
}


@dataclass(frozen=True, slots=True)
class ModelCallGroup:
    """The calls of one model for one purpose, in their order."""

    purpose: str
    model: str
    calls: tuple[ModelCall, ...]

    @property
    def failed(self) -> int:
        """Return how many calls failed."""
        return sum(bool(call.error) for call in self.calls)

    @property
    def latency_us(self) -> int:
        """Return the time of all calls."""
        return sum(call.latency_us for call in self.calls)

    @property
    def cost_usd(self) -> Decimal | float:
        """Return what all calls cost."""
        return sum(call.cost_usd for call in self.calls)

    @property
    def tokens(self) -> tuple[int, int]:
        """Return the tokens that were read, from the cache or not, and those that were written."""
        read = sum(call.input_tokens + call.cache_read_tokens + call.cache_write_tokens for call in self.calls)
        return read, sum(call.output_tokens for call in self.calls)


def group_calls(calls: Iterable[ModelCall]) -> list[ModelCallGroup]:
    """Return calls by purpose and model, in the order of the first of each."""
    groups: dict[tuple[str, str], list[ModelCall]] = {}
    for call in calls:
        groups.setdefault((call.purpose, call.model), []).append(call)
    return [ModelCallGroup(purpose, model, tuple(found)) for (purpose, model), found in groups.items()]


def trace_sentences(
    trace: Trace, *, turns: Sequence[Turn], spans: Sequence[Span], calls: Sequence[ModelCall]
) -> list[str]:
    """Return what was accepted, what was dropped and why, what was written, and what it took."""
    return [*_accepted(turns), *_found(trace, turns), *_written(trace), *_took(spans, calls)]


def _accepted(turns: Sequence[Turn]) -> Iterator[str]:
    dropped = [turn.rejected_for for turn in turns if turn.rejected_for]
    accepted = f"{count_of(len(turns), 'turn')} {'was' if len(turns) == 1 else 'were'} accepted"
    if not dropped:
        yield f"{accepted}, and the pre-filter dropped none."
    elif len(dropped) == len(turns):
        yield f"{accepted}, and the pre-filter dropped {'it' if len(turns) == 1 else 'all'}: {_reasons(dropped)}."
    else:
        yield f"{accepted}; the pre-filter dropped {len(dropped)}: {_reasons(dropped)}."


def _found(trace: Trace, turns: Sequence[Turn]) -> Iterator[str]:
    if not trace.outcomes or all(turn.rejected_for for turn in turns):
        return
    silent = sum(line.get("reason") == Reason.NO_CANDIDATE for line in trace.outcomes)
    candidates = [line for line in trace.outcomes if line.get("candidate") is not None]
    nothing = f"; nothing was found in {count_of(silent, 'turn')}" if silent else ""
    were = "was" if len(candidates) == 1 else "were"
    yield f"{count_of(len(candidates), 'candidate')} {were} extracted{nothing}."
    gone = [str(line["reason"]) for line in candidates if line["outcome"] == Outcome.DISCARDED]
    if gone:
        were = "was" if len(gone) == 1 else "were"
        yield f"{count_of(len(gone), 'candidate')} {were} dropped: {_reasons(gone)}."


def _written(trace: Trace) -> Iterator[str]:
    ended = Counter(str(line["outcome"]) for line in trace.outcomes if line.get("candidate") is not None)
    parts = [f"{ended[outcome]} {text}" for outcome, text in _ENDINGS.items() if ended[outcome]]
    superseded = int(trace.counts.get("superseded", 0) or 0)
    if superseded:
        parts.append(f"{superseded} older superseded")
    retracted = int(trace.counts.get("retracted", 0) or 0)
    if retracted:
        parts.append(f"{retracted} retracted on request")
    if parts:
        yield f"Memories: {', '.join(parts)}."
    elif trace.status in (TraceStatus.DONE, TraceStatus.REJECTED):
        yield "No memory was written."


def _took(spans: Sequence[Span], calls: Sequence[ModelCall]) -> Iterator[str]:
    if not spans:
        return
    slowest = max(spans, key=lambda span: span.latency_us)
    stages = f"The stages took {duration(sum(span.latency_us for span in spans))}"
    most = f", most of it “{label(slowest.stage)}” with {duration(slowest.latency_us)}" if len(spans) > 1 else ""
    cost = f"; {count_of(len(calls), 'model call')} cost ${sum(call.cost_usd for call in calls):.4f}" if calls else ""
    yield f"{stages}{most}{cost}."


def _reasons(reasons: Iterable[str]) -> str:
    """Return the most frequent reasons with their counts."""
    counted = Counter(reasons).most_common()
    shown = ", ".join(f"{count} {label(reason)}" for reason, count in counted[:_MOST_REASONS])
    more = sum(count for _, count in counted[_MOST_REASONS:])
    return f"{shown}, {more} for other reasons" if more else shown
