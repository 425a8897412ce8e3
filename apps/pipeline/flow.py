"""The funnel from top to bottom: seven stages, each of which passes, transforms or rejects its input.

    accept a request  →  screen()        pre_filter                        in the request, no model
    run its trace     →  extract()       extract                           one model call for what is queued
                      →  settle()        resolve_refs → dedupe → conflict  reads only
                      →  persist_plan()  persist                           one transaction
    index memories    →  indexing.index  index                             in the background

Spans are made here and nowhere else.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from time import perf_counter_ns

from apps.pipeline.conflict import conflict
from apps.pipeline.core import persist
from apps.pipeline.core.draft import Draft, StageSpan
from apps.pipeline.core.enums import Reason, SpanResult, Stage
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.model_calls import microseconds_since
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Ports
from apps.pipeline.deduplication import dedupe
from apps.pipeline.extraction import extract as extracting
from apps.pipeline.prefilter import pre_filter
from apps.pipeline.resolution import resolve_refs

Step = Callable[..., Draft]
EXTRACTED_WITH = "extracted_with"  # detail of a span: the first trace of those that shared model calls

SETTLING: tuple[tuple[Stage, Step], ...] = (
    (Stage.RESOLVE_REFS, resolve_refs.run),
    (Stage.DEDUPE, dedupe.run),
    (Stage.CONFLICT, conflict.run),
)


def screen(draft: Draft) -> Draft:
    """Drop the turns that the rules reject."""
    return _spanned(Stage.PRE_FILTER, draft, pre_filter.run)


def extract(drafts: Sequence[Draft], ports: Ports) -> list[Draft]:
    """Propose candidates for the drafts of one session, which share model calls and their latency.

    The span of each but the first names the first, so that a replay asks about the same turns together. Agents that
    do not share their memories do not share calls. Raises ModelFailed.
    """
    extracted: list[Draft] = []
    for _, told in groupby(drafts, key=lambda draft: draft.private_to):  # what is private must not share a prompt
        together = list(told)
        started = perf_counter_ns()
        with ports.stage_span(Stage.EXTRACT):
            found = extracting.run(together, ports)
        latency_us = microseconds_since(started)
        first = together[0].request.trace_id
        for before, after in zip(together, found, strict=True):
            noted = {} if after.request.trace_id == first else {EXTRACTED_WITH: show(Prefix.TRACE, first)}
            told_of = after.evolve(details={**after.details, **noted})
            extracted.append(_with_span(Stage.EXTRACT, before, told_of, latency_us))
    return extracted


def extract_session(draft: Draft, ports: Ports) -> Draft:
    """Propose candidates for a session as a whole. Raises ModelFailed."""
    with ports.stage_span(Stage.EXTRACT):
        return _spanned(Stage.EXTRACT, draft, partial(extracting.run_session, ports=ports))


def settle(draft: Draft, ports: Ports) -> Draft:
    """Decide what each candidate becomes, given what is known now; nothing is written."""
    is_settled = draft.candidates or draft.forget_requests or draft.asked_to_forget or draft.asked_to_end
    for stage, step in SETTLING if is_settled else ():
        with ports.stage_span(stage):
            draft = _spanned(stage, draft, partial(step, ports=ports))
    return draft


def settle_given(draft: Draft, ports: Ports) -> Draft:
    """Decide what each statement becomes that a caller stores directly; its entities are given by name."""
    for stage, step in SETTLING[1:] if draft.candidates else ():
        draft = _spanned(stage, draft, partial(step, ports=ports))
    return draft


def persist_plan(draft: Draft, plan: WritePlan, ports: Ports) -> Draft:
    """Apply the plan of a draft in one transaction.

    Raises StalePlan if a memory has changed since the plan was made; nothing is written then.
    """
    with ports.stage_span(Stage.PERSIST):
        return _spanned(Stage.PERSIST, draft, lambda given: persist.run(given, plan, ports))


def _spanned(stage: Stage, draft: Draft, step: Callable[[Draft], Draft]) -> Draft:
    started = perf_counter_ns()
    after = step(draft)
    return _with_span(stage, draft, after, microseconds_since(started))


def _with_span(stage: Stage, before: Draft, after: Draft, latency_us: int) -> Draft:
    reasons = {drop.reason for drop in after.drops[len(before.drops) :]}
    reason = reasons.pop() if len(reasons) == 1 else "mixed" if reasons else ""
    entered = len(before.turns) + len(before.candidates)
    left = len(after.turns) + len(after.candidates)
    if after.failure:
        result, reason = SpanResult.ERROR, Reason.EXTRACTION_FAILED
    elif len(after.drops) > len(before.drops) and (left == 0 or (left < entered and not after.candidates)):
        result = SpanResult.REJECT
    elif (before.turns, before.candidates, before.rulings) != (after.turns, after.candidates, after.rulings):
        result = SpanResult.TRANSFORM
    else:
        result = SpanResult.PASS
    span = StageSpan(stage=stage, result=result, latency_us=latency_us, reason=reason, details=after.details)
    return after.evolve(spans=(*after.spans, span), details={})
