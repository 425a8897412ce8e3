"""The review queue: cases, decisions, comments, skipped cases and what one has decided."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django_htmx.http import trigger_client_event

from apps.common.errors import Refused, Unfit
from apps.console.labels import label, names_of, time_since
from apps.console.paging import identifier_of, is_part, paginate, paginate_and_open
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.ledger.actor import current_actor
from apps.memories.models import Memory, MemoryComment, MemoryLink, MemoryVersion
from apps.pipeline.core.enums import LinkKind, LinkStatus, MemoryType, RejectionReason, Status
from apps.pipeline.review.decisions import is_asserted
from apps.review import services as deciding
from apps.review import skipping
from apps.review import undo as undoing
from apps.review.forms import (
    MOST_AT_ONCE,
    Toast,
    chosen_memories,
    decision_response,
    edited_content,
    edited_value,
    parse_seen,
    parse_undo,
    review_action,
    row_ids,
    toast_response,
)
from apps.review.selectors.cases import comments_on
from apps.review.selectors.comparisons import change_text, latest_changes, rejection_reasons, settlement_text, shortened
from apps.review.selectors.review import (
    ReviewFilters,
    count_by_reason,
    count_pending,
    load_groups,
    review_queue,
)
from apps.review.services import ReviewDecision, SeenVersion, comment_on_memory
from apps.review.skipping import skipped_by
from apps.review.undo import UNDONE, check_undo
from apps.review.views.cases import listed_case, memory_case, with_next_case
from apps.tenants.enums import MemberRole

SHOWN_FOR = timedelta(days=14)  # one's own decisions
MOST_NAMED = 3
_DECISIONS = frozenset({"approved", "rejected", "kept", "merged", "took_over"})  # operations that a person decides


@review_action
def skip(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Skip the memories of a row, or a pair; with `back`, undo that."""
    given = [identifier_of(each) for text in request.POST.getlist("row") for each in text.split()]
    ids: list[UUID] = [each for each in given if each is not None]
    if not ids or len(ids) != len(given) or len(ids) > MOST_AT_ONCE:
        raise Unfit("choose what to skip")
    if "back" in request.POST:
        skipping.bring_back(request, ids)
        answer = toast_response(request, Toast("It is back in its place."))
        return trigger_client_event(answer, "undone", {"opens": str(ids[0])})
    skipping.skip(request, ids)
    answer = toast_response(request, Toast("Skipped: it waits at the end of your queue.", skipped=tuple(ids)))
    answer["X-Skipped-Rows"] = row_ids(ids)
    return with_next_case(request, visit, answer)


@project_page(MemberRole.REVIEWER)
def decisions(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the visitor's own decisions, latest first."""
    recent = _own_changes(visit).filter(known_until__gte=timezone.now() - SHOWN_FOR)
    moments = recent.order_by("-known_until", "end_user_id").values("end_user_id", "known_until").distinct()
    found = paginate(moments, request)
    page = replace(found, rows=_decisions(found.rows, visit))
    return render(request, "console/decisions.html", {"page": page, "days": SHOWN_FOR.days})


@review_action
def comment(request: HttpRequest, visit: ProjectVisit, memory_id: UUID) -> HttpResponse:
    """Add a comment, and return all comments on the memory, or on both memories of the pair in which it was written."""
    comment_on_memory(project_id=visit.project.pk, memory_id=memory_id, text=request.POST.get("text", ""))
    memory = get_object_or_404(Memory.objects.for_project(visit.project.pk), pk=memory_id)
    links = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory")
    named = identifier_of(request.POST.get("pair", ""))
    pair = links.filter(pk=named).first() if named else None
    of = (pair.from_memory, pair.to_memory) if pair else (memory,)
    comments = comments_on(*of)
    names = names_of(each.author for each in comments)
    shown = {"memory": memory, "pair": pair, "comments": comments, "names": names}
    return render(request, "console/_comments.html", shown)


@project_page()
def review(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List pending memories and show the one that is named, else the first one."""
    filters, project_id = ReviewFilters.of(request), visit.project.pk
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)  # in UTC
    own = _own_changes(visit)
    following = {name: OuterRef(name) for name in ("end_user", "memory")} | {"version": OuterRef("version") + 1}
    taken_back = MemoryVersion.objects.filter(operation=UNDONE, actor=current_actor(), **following)
    tabs = {
        "filters": filters,
        "counts": count_by_reason(project_id=project_id, filters=filters),
        "decided": own.filter(~Exists(taken_back), known_until__gte=midnight).count(),
        "total": count_pending(project_id=project_id),
    }
    if is_part(request, "reasons"):
        return render(request, "console/_reason_tabs.html", tabs)
    queue = review_queue(project_id=project_id, filters=filters, skipped=skipped_by(request))
    found, row = paginate_and_open(queue, request, load=partial(load_groups, project_id=project_id, filters=filters))
    named, absent, why_absent = identifier_of(request.GET.get("open", "")), None, ""
    if row is None and named is not None:
        absent, why_absent = _absent_memory(project_id, named)
    if row is None and absent is None and found.rows:
        row = found.rows[0]
    memory = row.leader if row else absent
    shown = {"page": found, "types": list(MemoryType), "why_absent": why_absent, "open_row": row, "item": None}
    shown |= tabs | (memory_case(memory, row) if memory else {}) | {"shown_at": timezone.now()}
    return render(request, "console/review.html", shown)


@project_page()
@transaction.atomic
def memory(request: HttpRequest, visit: ProjectVisit, memory_id: UUID) -> HttpResponse:
    """Show one memory with everything that a decision needs; beside the list, with its group."""
    found = get_object_or_404(Memory.objects.for_project(visit.project.pk).to_show(), pk=memory_id)
    if not is_part(request, "detail"):
        return render(request, "console/memory.html", memory_case(found, None))
    return render(request, "console/_review_item.html", listed_case(request, found))


@review_action
def approve(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Approve one or several memories; a single one may be reworded, and may replace others."""
    content, value = edited_content(request), edited_value(request)
    seen = chosen_memories(request)
    replaces = parse_seen(request.POST.getlist("replaces"))
    decided = deciding.approve(
        project_id=visit.project.pk,
        seen=seen,
        content=content,
        value=value,
        replaces=replaces,
        is_confirmed="is_confirmed" in request.POST,
        as_uncertain="as_uncertain" in request.POST,
    )
    ids = [each.memory_id for each in decided.memories]
    memories = Memory.objects.for_project(visit.project.pk).filter(status=Status.SUPERSEDED)
    replaced = memories.filter(superseded_by__in=ids)
    contents = list(replaced.order_by("-updated_at", "id").values_list("content", flat=True)[: MOST_NAMED + 1])
    quoted = ", ".join(f"“{shortened(each)}”" for each in contents[:MOST_NAMED])
    others = " and others" if len(contents) > MOST_NAMED else ""
    more = f" Replaced: {quoted}{others}." if contents else ""
    more += _history_text(list(memories.filter(pk__in=ids).select_related("superseded_by")), of=len(ids))
    verb = "kept as uncertain" if "as_uncertain" in request.POST else "approved"
    return _decided(request, visit, decided, verb, more=more)


def _history_text(ended: Sequence[Memory], *, of: int) -> str:
    """Return the sentence about the approved memories that became history at once, since others were said later."""
    if not ended:
        return ""
    later = ended[0].superseded_by
    why = f", since “{shortened(later.content)}” was said later" if later else ""
    if of == 1:
        return f" It became history at once{why}: agents are not told."
    these = "1 of them" if len(ended) == 1 else f"{len(ended)} of them"
    return f" {these} became history at once{why if len(ended) == 1 else ', since others were said later'}."


@review_action
def preview_approval(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show what approving several memories does, before it is done: how many stay, and what to know of the others."""
    ids = {each.memory_id for each in chosen_memories(request)}
    memories = Memory.objects.for_project(visit.project.pk)
    waiting = list(memories.awaiting_review().filter(pk__in=ids))
    approved = {each.pk: each for each in waiting if is_asserted(each)}
    links = MemoryLink.objects.for_project(visit.project.pk).to_settle().filter(kind=LinkKind.CONTRADICTS)
    pairs = links.filter(Q(from_memory__in=approved) | Q(to_memory__in=approved)).order_by()
    disputed = {each for pair in pairs.values_list("from_memory_id", "to_memory_id") for each in pair}
    commented = MemoryComment.objects.filter(memory__in=approved).order_by().values_list("memory_id").distinct()
    preview = {
        "approved": len(approved),
        "rules": sum(each.is_rule for each in approved.values()),
        "disputed": len(disputed & approved.keys()),
        "commented": commented.count(),
        "not_asserted": len(waiting) - len(approved),
        "gone": len(ids) - len(waiting),
    }
    return render(request, "console/_approval_preview.html", {"preview": preview})


@review_action
def reject(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Reject one or several memories with a reason."""
    reason = request.POST.get("reason", "")
    if reason not in set(RejectionReason):
        raise Unfit("choose a reason from the list")
    seen = chosen_memories(request)
    decided = deciding.reject(project_id=visit.project.pk, seen=seen, reason=RejectionReason(reason))
    return _decided(request, visit, decided, "rejected")


@review_action
def merge(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Merge a memory into another one that says the same."""
    both = [parse_seen(request.POST.getlist(name)[:1]) for name in ("memory", "into")]
    if [len(each) for each in both] != [1, 1]:
        raise Unfit("choose two memories to merge")
    decided = deciding.merge_memories(project_id=visit.project.pk, seen=both[0][0], into=both[1][0])
    return with_next_case(request, visit, decision_response(request, decided, "Merged."))


@review_action
def undo(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Undo a decision and refresh the page."""
    decided = parse_undo(request)
    undoing.undo(project_id=visit.project.pk, decided=decided)
    opens = decided.link_id or next((each.memory_id for each in decided.memories), "")
    return trigger_client_event(toast_response(request, Toast("Undone.")), "undone", {"opens": str(opens)})


def _decided(
    request: HttpRequest, visit: ProjectVisit, decided: ReviewDecision, verb: str, *, more: str = ""
) -> HttpResponse:
    """Tell what was decided; if more of the group wait, the page loads its list again."""
    done = len(decided.memories)
    text = f"{done} memories {verb}." if done > 1 else f"{verb.capitalize()}."
    answer = decision_response(request, decided, f"{text}{more}")
    if "grouped" in request.POST:
        memories = Memory.objects.for_project(visit.project.pk)
        ids = [*(each.memory_id for each in decided.memories), *decided.refused]
        wordings = memories.filter(pk__in=ids).values("wording")
        if memories.awaiting_review().filter(wording__in=wordings).exists():
            trigger_client_event(answer, "queue-changed", after="swap")
    return with_next_case(request, visit, answer)


def _absent_memory(project_id: UUID, memory_id: UUID) -> tuple[Memory | None, str]:
    """Return a memory that the page of the queue does not list, and why, such as who decided about it."""
    memory = Memory.objects.for_project(project_id).to_show().filter(pk=memory_id).first()
    if memory is None:
        return None, "The memory of this address does not exist any more."
    if memory.status == Status.PENDING_REVIEW:
        return memory, "This memory still waits for a decision, but not on this page of the list."
    change = latest_changes(project_id=project_id, memory_ids=[memory_id]).get(memory_id)
    if change is None:
        return memory, f"This memory does not wait for a decision: it is {label(memory.status)}."
    return memory, f"{change}."


def _own_changes(visit: ProjectVisit) -> QuerySet[MemoryVersion]:
    """Return the changes by which the visitor has decided; those of one decision have the same time."""
    own = MemoryVersion.objects.filter(actor=current_actor(), trace=None, operation__in=_DECISIONS)
    return own.filter(memory__project=visit.project)


def _decisions(moments: Sequence[dict[str, Any]], visit: ProjectVisit) -> list[dict[str, Any]]:
    """Return the decisions made at some moments, in their order, and whether each can be undone (six queries)."""
    times, users = [each["known_until"] for each in moments], {each["end_user_id"] for each in moments}
    made: defaultdict[tuple[UUID, datetime], list[MemoryVersion]] = defaultdict(list)
    for each in _own_changes(visit).filter(known_until__in=times, end_user_id__in=users).order_by("memory_id"):
        made[each.end_user_id, each.known_until].append(each)
    ids = {each.memory_id for several in made.values() for each in several}
    memories = {each.pk: each for each in Memory.objects.for_project(visit.project.pk).filter(pk__in=ids).to_show()}
    history: defaultdict[UUID, list[MemoryVersion]] = defaultdict(list)  # of each memory, oldest first
    for each in MemoryVersion.objects.filter(memory__in=ids).order_by("memory_id", "version"):
        history[each.memory_id].append(each)
    names = names_of(each.actor for several in history.values() for each in several)
    reasons = rejection_reasons(each for several in history.values() for each in several)
    pairs = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory")
    settled = pairs.filter(status=LinkStatus.SETTLED, settled_at__in=times)
    links = {(each.end_user_id, each.settled_at): each for each in settled}
    rows = []
    for moment in moments:
        key = moment["end_user_id"], moment["known_until"]
        if key not in made:
            continue
        link = links.get(key)
        since = [[each for each in history[of.memory_id] if each.version >= of.version] for of in made[key]]
        refusals = [_refusal(memories[each[0].memory_id], each, names) for each in since]
        seen = tuple(SeenVersion(each.memory_id, each.version + 1) for each in made[key])
        undone = (current_actor(), UNDONE)
        rows.append(
            {
                "what": settlement_text(link) if link else " and ".join(change_text(each) for each in made[key]),
                "reason": "" if link else next((reasons[each.pk] for each in made[key] if each.pk in reasons), ""),
                "memories": [memories[each.memory_id] for each in made[key]],
                "at": moment["known_until"],
                "decided": ReviewDecision(memories=seen, link_id=link.pk if link else None),
                "refusal": next(filter(None, refusals), ""),
                "is_undone": all([(one.actor, one.operation) for one in each[1:2]] == [undone] for each in since),
            }
        )
    return rows


def _refusal(memory: Memory, changes: Sequence[MemoryVersion], names: Mapping[str, str]) -> str:
    """Return why the first of some changes can't be undone; empty if it can."""
    try:
        check_undo(memory, changes)
    except Refused as refused:
        if len(changes) == 1:
            return str(refused)
        later = changes[1]
        return f"{names[later.actor]} {label(later.operation)} it ({time_since(later.known_until)})"
    return ""
