"""Stage 2, extract: find candidates in the turns that passed the pre-filter, within the limits of the policy."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from uuid import UUID

from apps.pipeline.core.confidence import confidence_of
from apps.pipeline.core.draft import Draft, Drop
from apps.pipeline.core.enums import ExtractorKind, OnModelFailure, Reason, SourceConfidence, Stage
from apps.pipeline.core.model_calls import FailureKind, ModelFailed
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.forget_requests import is_read_from_request, with_forget_requests
from apps.pipeline.extraction.llm import extractor, session_extractor
from apps.pipeline.extraction.not_to_store import without_unwanted
from apps.pipeline.extraction.plain.extractor import extract as extract_plainly
from apps.pipeline.extraction.small_talk_filter import telling
from apps.pipeline.extraction.windows import ExtractionResult, windows_of

IDLE = "nothing told: no model was asked"
SEEN = "calls_showed"  # a key of the span's details


def run(drafts: Sequence[Draft], ports: Ports) -> list[Draft]:
    """Propose candidates for the turns in the drafts of one session; turns without one are dropped as no_candidate.

    Without a model, the plain extractor replaces every kind of extractor, which the span records. A draft whose
    answers were unusable has a `failure`. Raises ModelFailed, unless the policy falls back on the plain extractor.
    """
    drafts = without_unwanted([with_forget_requests(draft) for draft in drafts])
    kind = drafts[0].policy.extraction.extractor
    model_asked = ports.model_for(drafts[0].policy)
    if model_asked is None or kind is ExtractorKind.PLAIN:
        return [_extracted(draft, _by_plain(draft), ran=ExtractorKind.PLAIN) for draft in drafts]
    # A stacked extractor leaves the model the turns without a plain statement; small talk is left out.
    policy = drafts[0].policy.extraction
    first = [_by_plain(draft) if kind is ExtractorKind.STACKED else ExtractionResult() for draft in drafts]
    left = []  # the turns without a plain statement
    for found, draft in zip(first, drafts, strict=True):
        told = {turn_id for each in found.candidates for turn_id in each.source_turn_ids}
        left.append(draft.evolve(turns=tuple(turn for turn in draft.turns if turn.id not in told)))
    asked = [telling(draft) for draft in left]
    try:
        second = extractor.extract(asked, model=model_asked, ports=ports)
    except ModelFailed as failure:
        if policy.on_model_failure is not OnModelFailure.PLAIN:
            raise
        calls = [failure.calls, *(() for _ in drafts[1:])]
        second = [ExtractionResult(failure=str(failure), calls=made) for made in calls]
    shown = [window.shown for window in windows_of(asked, policy=policy)]
    seen = [[turns[0].position, turns[-1].position] for turns in shown]  # the positions that each call showed
    extracted = []
    for draft, waiting, read, plain, found in zip(drafts, left, asked, first, second, strict=True):
        joined = found.evolve(
            candidates=(*plain.candidates, *found.candidates),
            unreadable=plain.unreadable,
            idle=frozenset(turn.id for turn in waiting.turns if turn not in read.turns),
            notes={**found.notes, SEEN: seen},
        )
        if found.failure and policy.on_model_failure is OnModelFailure.PLAIN:
            instead = _by_plain(waiting)
            guesses = [each.evolve(source_confidence=SourceConfidence.SPECULATED) for each in instead.candidates]
            joined = joined.evolve(
                candidates=(*plain.candidates, *guesses),
                unreadable=instead.unreadable,
                refused=(),
                notes={**joined.notes, "fallback": ExtractorKind.PLAIN.value, "failure": found.failure},
                failure="",
            )
        extracted.append(_extracted(draft, joined, ran=kind))
    return extracted


def run_session(draft: Draft, ports: Ports) -> Draft:
    """Propose what the turns of a session show together. Raises ModelFailed, also if no model is configured.

    The session contains the turns before a request to forget as well: what it asks to forget is not proposed again.
    """
    if len(draft.turns) < draft.policy.extraction.min_session_turns:
        return draft.evolve(details={"why": "too short a session to review"})
    asked = ports.model_for(draft.policy)
    if asked is None:
        raise ModelFailed("no model is configured", permanent=True, kind=FailureKind.REFUSED)
    (draft,) = without_unwanted([with_forget_requests(draft)])
    found = session_extractor.extract(draft, model=asked, ports=ports)
    if found.failure:
        return draft.evolve(failure=found.failure, model_calls=found.calls, details=dict(found.notes))
    told = [each for each in found.candidates if not is_read_from_request(each, requests=draft.forget_requests)]
    proposed = tuple(each.evolve(index=index) for index, each in enumerate(told))
    most = draft.policy.extraction.max_per_session
    limits = draft.policy.extraction.model_copy(update={"max_per_turn": most, "max_per_call": most})
    policy = draft.policy.model_copy(update={"extraction": limits})
    one_call = {turn.id: 0 for turn in draft.request.turns}
    kept, drops = decide(proposed=proposed, policy=policy, windows=one_call)
    details = {"extractor": ExtractorKind.MODEL.value, "level": "session", "proposed": len(proposed), **found.notes}
    extracted = draft.evolve(
        candidates=kept, model_calls=found.calls, details=details, shown_memories=found.shown_memories
    )
    return extracted.drop(*_refused(found, first=len(proposed)), *drops)


def _by_plain(draft: Draft) -> ExtractionResult:
    """Read each turn by itself: an error in one turn only loses its own candidates."""
    candidates: list[Candidate] = []
    unreadable: dict[UUID, str] = {}
    for turn in draft.turns:
        before = tuple(each for each in draft.request.session_turns if each.position < turn.position)
        try:
            candidates += extract_plainly(turn=turn, policy=draft.policy.extraction, before=before)
        except Exception as error:  # noqa: BLE001 - whatever a text provokes must not reach the other turns
            unreadable[turn.id] = f"{type(error).__name__}: {error}"
    return ExtractionResult(candidates=tuple(candidates), unreadable=unreadable)


def _extracted(draft: Draft, found: ExtractionResult, *, ran: ExtractorKind) -> Draft:
    if found.failure:
        return draft.evolve(failure=found.failure, model_calls=found.calls, details=dict(found.notes))
    requests = []
    for request in draft.forget_requests:
        if request.turn_id not in found.windows or request.needs_all_words or request.names_all:
            requests.append(request)
        elif request.is_plain and not request.points:  # after a model only what is named plainly is beyond doubt
            requests.append(replace(request, needs_all_words=True))
    draft = draft.evolve(forget_requests=tuple(requests))
    topic = draft.request.topic
    places = {turn.id: place for place, turn in enumerate(draft.request.turns)}
    ordered = sorted(found.candidates, key=lambda each: places[each.source_turn_ids[-1]])
    stated = [each for each in ordered if not is_read_from_request(each, requests=draft.forget_requests)]
    proposed = tuple(each.evolve(index=index, topic=topic or each.topic) for index, each in enumerate(stated))
    kept, drops = decide(proposed=proposed, policy=draft.policy, windows=found.windows)
    told = {turn_id for each in proposed for turn_id in each.source_turn_ids}
    told |= {each.turn_id for each in draft.forget_requests} | {each.turn_id for each in draft.drops if each.turn_id}
    why = {**dict.fromkeys(found.idle, IDLE), **found.unreadable}
    silent = []
    for turn_id in (turn.id for turn in draft.turns if turn.id not in told):
        reason = Reason.EXTRACTION_FAILED if turn_id in found.unreadable else Reason.NO_CANDIDATE
        detail = {"why": why[turn_id]} if turn_id in why else {}
        silent.append(Drop(Stage.EXTRACT, reason, turn_id, detail=detail))
    details = {
        "extractor": ran.value,
        "configured": draft.policy.extraction.extractor.value,
        "proposed": len(proposed),
        "kept": len(kept),
        "fired": dict(sorted(Counter(each.extractor for each in proposed).items())),
        "refused": [
            {"content": each.candidate.content, "reason": each.reason, "why": each.why} for each in found.refused
        ],
        **found.notes,
    }
    extracted = draft.evolve(
        candidates=kept,
        model_calls=found.calls,
        details=details,
        shown_memories=found.shown_memories,
        asked_to_forget=found.to_forget,
        asked_to_end=found.to_end,
    )
    return extracted.drop(*silent, *_refused(found, first=len(proposed)), *drops)


def _refused(found: ExtractionResult, *, first: int) -> list[Drop]:
    return [
        Drop(
            Stage.EXTRACT,
            each.reason,
            turn_id=each.candidate.source_turn_ids[0],
            candidate=each.candidate.evolve(index=index),
            detail={"why": each.why},
        )
        for index, each in enumerate(found.refused, start=first)
    ]


def decide(
    *, proposed: Sequence[Candidate], policy: Policy, windows: Mapping[UUID, int] | None = None
) -> tuple[tuple[Candidate, ...], tuple[Drop, ...]]:
    """Apply min_confidence, max_per_turn and, to each model call, max_per_call; the most important candidates stay.

    `proposed` is in the order of the turns, `windows` has the call in which each turn was new; candidates of the plain
    extractor have none. Requests that share a call have max_per_call each.
    """
    limits = policy.extraction
    sure = [each for each in proposed if confidence_of(each, policy=policy.confidence).value >= limits.min_confidence]
    by_turn = groupby(sure, key=lambda each: each.source_turn_ids)
    kept = [each for _, group in by_turn for each in _best(tuple(group), limits.max_per_turn)]
    call_of = windows or {}
    by_call = groupby(kept, key=lambda each: call_of.get(each.source_turn_ids[0]))
    most = limits.max_per_call
    kept = [each for call, group in by_call for each in (group if call is None else _best(tuple(group), most))]
    drops = (
        *_left_out(proposed, sure, Reason.LOW_CONFIDENCE),
        *_left_out(sure, kept, Reason.OVER_LIMIT),
    )
    return tuple(kept), drops


def _best(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the `limit` most important ones in the order in which they were said."""
    chosen = sorted(candidates, key=lambda each: (-each.importance, each.index))[:limit]
    return sorted(chosen, key=lambda each: each.index)


def _left_out(before: Sequence[Candidate], after: Sequence[Candidate], reason: Reason) -> list[Drop]:
    kept = {each.index for each in after}
    return [
        Drop(Stage.EXTRACT, reason, turn_id=each.source_turn_ids[0], candidate=each)
        for each in before
        if each.index not in kept
    ]
