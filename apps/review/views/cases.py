"""The case that is open beside a list: a memory or a pair, with everything that a decision needs."""

from collections import defaultdict
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from apps.console.labels import names_of
from apps.console.paging import identifier_of
from apps.console.permissions import ProjectVisit
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkStatus, RejectionReason
from apps.review.selectors.cases import approval_texts, comments_on, link_options, load_evidence, load_review_item
from apps.review.selectors.comparisons import keeping, load_comparisons, older_first
from apps.review.selectors.review import ReviewFilters, ReviewGroup, group_of
from apps.review.text_differences import compared_texts
from apps.traces.policies import active_policy


@transaction.atomic  # outside of a transaction, each statement has one of its own
def with_next_case(request: HttpRequest, visit: ProjectVisit, answer: HttpResponse) -> HttpResponse:
    """Add to the answer of a decision the case that the page opens next, if it names one (`next`)."""
    named = identifier_of(request.POST.get("next", ""))
    if named is None:
        return answer
    links = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory", "end_user")
    if memory := Memory.objects.for_project(visit.project.pk).to_show().filter(pk=named).first():
        template, shown = "console/_review_item.html", listed_case(request, memory)
    elif link := links.filter(pk=named).first():
        template, shown = "console/_contradiction.html", {"contradiction": pair_case(link), "is_listed": True}
    else:
        return answer
    case = render_to_string(template, shown, request)
    answer.write(format_html('<div hx-swap-oob="innerHTML:#detail">{}</div>', mark_safe(case)))  # noqa: S308  (a template's)
    answer["X-Next-Row"] = f"row-{named}"
    return answer


def listed_case(request: HttpRequest, memory: Memory) -> dict[str, Any]:
    """Return what is shown of a memory beside the list, with its group."""
    return memory_case(memory, group_of(memory, filters=ReviewFilters.of(request))) | {"is_listed": True}


def memory_case(memory: Memory, group: ReviewGroup | None) -> dict[str, Any]:
    """Return what the page of a memory shows, or that of a group of which it is the first one."""
    is_group = group is not None and len(group.members) > 1
    policy, now = active_policy(project_id=memory.project_id), timezone.now()
    members: list[dict[str, Any]] = []  # and what approving each changes
    if group is not None and is_group:
        rows = {row.pk: row for row in Memory.objects.filter(pk__in=group.ids).awaiting_review().to_show()}
        waiting = [rows[id] for id in group.ids if id in rows]
        pairs = MemoryLink.objects.filter(kind=LinkKind.CONTRADICTS, status=LinkStatus.OPEN)
        pairs = pairs.filter(Q(from_memory__in=group.ids) | Q(to_memory__in=group.ids))
        contradicts: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for one, other in pairs.values_list("from_memory", "to_memory"):
            contradicts[one].append(other)
            contradicts[other].append(one)
        texts = approval_texts(waiting, contradicts=contradicts, policy=policy, now=now)
        members = [{"memory": each, "approval": texts.get(each.pk, "")} for each in waiting]
    return {
        "item": load_review_item(memory, policy=policy, now=now, is_group=is_group),
        "group": group if is_group else None,
        "members": members,
        "rejections": list(RejectionReason),
    }


def pair_case(link: MemoryLink) -> dict[str, Any]:
    """Load both sides, the older one first, and place them on one timeline, in percent (at most twelve queries)."""
    now, pair = timezone.now(), older_first(link)
    begins = min(moment for memory in pair for moment in (memory.valid_from, memory.said_at))
    ends = max(now, *(memory.valid_until or now for memory in pair))
    scale = max((ends - begins).total_seconds(), 1.0)

    def at(moment: datetime) -> float:
        return round((moment - begins).total_seconds() / scale * 100, 2)

    sides = []
    for name, memory, words in zip("AB", pair, compared_texts(pair[0].content, pair[1].content), strict=True):
        start = min(at(memory.valid_from), 99.0)
        sides.append(
            {
                "name": name,
                "memory": memory,
                "words": words,  # its content, with what the other one says differently
                "keeps": keeping(link, memory),  # how the pair is settled if this side alone is true
                "evidence": load_evidence(memory),
                "said": at(memory.said_at),
                "start": start,
                "width": max(at(memory.valid_until or ends) - start, 1.0),
            }
        )
    comments = comments_on(*pair)
    return {
        "link": link,
        "is_duplicate": link.kind == LinkKind.POSSIBLE_DUPLICATE,
        "versions": (link.from_memory, link.to_memory),
        "newer": pair[1],
        "sides": sides,
        "begins": begins,
        "comparison": load_comparisons([link]).get(link.pk),
        "consequences": link_options(link, now=now) if link.status == LinkStatus.OPEN else {},
        "comments": comments,
        "names": names_of(each.author for each in comments),
    }
