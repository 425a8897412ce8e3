"""Traces, how they are found, and what happened to them in sentences."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, F, Prefetch, Q, QuerySet, Value, When
from django.db.models.functions import Left

from apps.console.labels import count_of, duration, label
from apps.memories.models import Memory, Rollback
from apps.outbox.model_pauses import find_wait_reason
from apps.pipeline.core.enums import Outcome, Reason, TraceStatus
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, end_user_id, parse
from apps.pipeline.prompts.extract import STATIC, VERSION
from apps.traces.filters import oldest_of_latest, with_words
from apps.traces.models import ModelCall, Span, Trace, Turn

_MOST_REASONS = 4
_ENDINGS = {
    Outcome.STORED: "stored",
    Outcome.MERGED: "merged into known memories",
    Outcome.PENDING_REVIEW: "stored for review",
}


def group_calls(calls: Iterable[ModelCall]) -> list[dict[str, Any]]:
    """Return calls by purpose and model with their sums, in the order of the first of each."""
    groups: dict[tuple[str, str], list[ModelCall]] = {}
    for call in calls:
        groups.setdefault((call.purpose, call.model), []).append(call)
    return [
        {
            "purpose": purpose,
            "model": model,
            "calls": found,
            "failed": sum(bool(call.error) for call in found),
            "latency_us": sum(call.latency_us for call in found),
            "cost_usd": sum(call.cost_usd for call in found),
            "read": sum(call.input_tokens + call.cache_read_tokens + call.cache_write_tokens for call in found),
            "written": sum(call.output_tokens for call in found),
        }
        for (purpose, model), found in groups.items()
    ]


def trace_sentences(
    trace: Trace, *, turns: Sequence[Turn], spans: Sequence[Span], calls: Sequence[ModelCall]
) -> list[str]:
    """Return what was accepted, what was dropped and why, what was written, and what it took."""
    dropped = [turn.rejected_for for turn in turns if turn.rejected_for]
    accepted = f"{count_of(len(turns), 'turn')} {'was' if len(turns) == 1 else 'were'} accepted"
    if not dropped:
        sentences = [f"{accepted}, and the pre-filter dropped none."]
    elif len(dropped) == len(turns):
        every = "it" if len(turns) == 1 else "all"
        sentences = [f"{accepted}, and the pre-filter dropped {every}: {_reasons(dropped)}."]
    else:
        sentences = [f"{accepted}; the pre-filter dropped {len(dropped)}: {_reasons(dropped)}."]
    if trace.outcomes and len(dropped) < len(turns):
        silent = sum(line.get("reason") == Reason.NO_CANDIDATE for line in trace.outcomes)
        candidates = [line for line in trace.outcomes if line.get("candidate") is not None]
        nothing = f"; nothing was found in {count_of(silent, 'turn')}" if silent else ""
        were = "was" if len(candidates) == 1 else "were"
        sentences.append(f"{count_of(len(candidates), 'candidate')} {were} extracted{nothing}.")
        gone = [str(line["reason"]) for line in candidates if line["outcome"] == Outcome.DISCARDED]
        if gone:
            were = "was" if len(gone) == 1 else "were"
            sentences.append(f"{count_of(len(gone), 'candidate')} {were} dropped: {_reasons(gone)}.")
    sentences += _written(trace)
    if spans:
        slowest = max(spans, key=lambda span: span.latency_us)
        took = f"The stages took {duration(sum(span.latency_us for span in spans))}"
        if len(spans) > 1:
            took += f", most of it “{label(slowest.stage)}” with {duration(slowest.latency_us)}"
        if calls:
            took += f"; {count_of(len(calls), 'model call')} cost ${sum(call.cost_usd for call in calls):.4f}"
        sentences.append(f"{took}.")
    return sentences


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


def _reasons(reasons: Iterable[str]) -> str:
    """Return the most frequent reasons with their counts."""
    counted = Counter(reasons).most_common()
    shown = ", ".join(f"{count} {label(reason)}" for reason, count in counted[:_MOST_REASONS])
    more = sum(count for _, count in counted[_MOST_REASONS:])
    return f"{shown}, {more} for other reasons" if more else shown


_LATEST_FIRST = ("-trace__created_at", "-position")
_PUNCTUATION = ".,;:!?\"'“”„()"  # around words of a question
_EXCERPT = 200  # characters of a turn in a list
_SECTION = re.compile(r"^<(?P<name>[a-z_]+)>\s*$(?P<body>.*?)^</(?P=name)>\s*$", re.MULTILINE | re.DOTALL)


def listed_traces() -> QuerySet[Trace]:
    """Return all traces, newest first, with excerpts of their turns as `shown_turns`."""
    turns = Turn.objects.annotate(beginning=Left("content", _EXCERPT)).defer("content").order_by("position")
    rows = Trace.objects.order_by("-created_at", "-id").select_related("end_user", "session").defer("plan", "metadata")
    return rows.prefetch_related(Prefetch("turns", queryset=turns, to_attr="shown_turns"))


def title_of(trace: Trace) -> str:
    """Return the beginning of the first turn that passed the pre-filter, else of the first turn."""
    turns: list[Turn] = trace.shown_turns  # type: ignore[attr-defined]  # prefetched by listed_traces
    first = next((turn for turn in turns if not turn.rejected_for), turns[0] if turns else None)
    return str(first.beginning) if first else ""  # type: ignore[attr-defined]  # annotated by listed_traces


def search_turns(*, project_id: UUID, user: str, words: tuple[str, ...]) -> QuerySet[Turn]:
    """Return the turns of a project that contain all words, latest first."""
    return with_words(_searched_turns(project_id, user), words)


def search_similar_turns(*, project_id: UUID, user: str, words: tuple[str, ...]) -> QuerySet[Turn]:
    """Return the turns of a project that contain most of the words that any of them contains, rarest words first.

    So a question in other words than the user's still finds what was said.
    """
    rows = _searched_turns(project_id, user)
    bare = {word.strip(_PUNCTUATION) for word in words} - {""}
    contains = {word: Q(content__icontains=word) for word in sorted(bare)}
    counts = rows.aggregate(**{f"word_{place}": Count("pk", filter=has) for place, has in enumerate(contains.values())})
    known = [(has, count) for has, count in zip(contains.values(), counts.values(), strict=True) if count]
    if not known:
        return rows.none()
    found: Any = sum(Case(When(has, then=1), default=0) for has, _ in known)
    rarity: Any = sum(Case(When(has, then=Value(1 / count)), default=Value(0.0)) for has, count in known)
    most = rows.annotate(found=found, rarity=rarity).filter(found__gt=len(known) // 2)
    return most.order_by("-rarity", *_LATEST_FIRST)


def _searched_turns(project_id: UUID, user: str) -> QuerySet[Turn]:
    """Return the turns of a user, or those of the latest traces, latest first."""
    rows = Turn.objects.select_related("trace", "end_user", "session").filter(trace__project_id=project_id)
    # Read from the latest trace backwards, so that common words are found without sorting all matches.
    rows = rows.filter(end_user=F("trace__end_user")).order_by(*_LATEST_FIRST)
    if user:
        return rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=user))
    oldest = oldest_of_latest(project_id)
    return rows.filter(trace__created_at__gt=oldest) if oldest else rows


def parse_trace_id(text: str) -> UUID | None:
    """Return the UUID of a public trace identifier; None for any other text."""
    try:
        return parse(Prefix.TRACE, text) if text.startswith(f"{Prefix.TRACE}_") else None
    except BadIdentifier:
        return None


def trace_details(trace: Trace) -> dict[str, Any]:
    """Return what a page shows of a trace (four queries, some more for one that waits or was rolled back)."""
    whose = {"end_user_id": trace.end_user_id, "trace_id": trace.pk}
    turns = list(Turn.objects.filter(**whose).order_by("position"))
    calls = list(ModelCall.objects.filter(**whose).order_by("created_at", "id"))
    spans = list(Span.objects.filter(**whose).order_by("position"))
    is_queued = trace.status == TraceStatus.QUEUED
    return {
        "trace": trace,
        "turns": [(turn, outcomes_of(trace, turn)) for turn in turns],
        "spans": spans,
        "longest_us": max((span.latency_us for span in spans), default=0),
        "calls": group_calls(calls),
        "sections": sections_of(STATIC),  # of the present prompt; calls of another version had other sections
        "prompt_version": VERSION,
        "memories": Memory.objects.filter(**whose).to_show().order_by("candidate_index"),
        "sentences": trace_sentences(trace, turns=turns, spans=spans, calls=calls),
        "waiting": find_wait_reason(end_user_id=trace.end_user_id, subject_id=trace.pk) if is_queued else None,
        "rollback": Rollback.objects.filter(pk=trace.rollback_id).first() if trace.rollback_id else None,
    }


def outcomes_of(trace: Trace, turn: Turn) -> list[Mapping[str, Any]]:
    """Return the outcomes of the turn's candidates, or the one that explains why there are none."""
    return [line for line in trace.outcomes if line.get("turn") == turn.shown_id]


def sections_of(static: str) -> dict[str, str]:
    """Return the sections by name, in their order; what stands before the first one is `introduction`."""
    first = _SECTION.search(static)
    before = static[: first.start()].strip() if first else static.strip()
    found = {match["name"]: match["body"].strip() for match in _SECTION.finditer(static)}
    return ({"introduction": before} if before else {}) | found
