"""Rollback: take back what traces wrote, after a preview, and undo that."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from apps.common.errors import Refused, Unfit
from apps.console.choices import choice_problems
from apps.console.labels import count_of, label, names_of
from apps.console.paging import MAX_CHARACTERS, midnight, next_midnight, paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import project_action
from apps.memories.models import Memory, Rollback
from apps.pipeline.core.enums import LeftAlone, RollbackState, Status
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.pipeline.core.input_validation import BadInput
from apps.tenants.enums import MemberRole
from apps.tenants.models import ApiKey
from apps.traces.models import Trace
from apps.tuning.rollbacks.loading import named_selection
from apps.tuning.rollbacks.planning import Kept
from apps.tuning.rollbacks.services import (
    KeptRow,
    PreviewedMemory,
    RollbackPreview,
    preview_rollback,
    progress_of,
    request_rollback,
    undo_rollback,
)

# Names of fields and query parameters.
CHOICES = ("trace", "version", "key", "user", "session", "replay", "since", "until")


@project_page(MemberRole.ADMIN)
def rollbacks(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List rollbacks, and choose traces for another one."""
    return _list(request, visit, chosen={}, problems={})


def _list(
    request: HttpRequest, visit: ProjectVisit, *, chosen: Mapping[str, str], problems: Mapping[str, str]
) -> HttpResponse:
    """Show the form with what was chosen and why it was refused, and the rollbacks."""
    # A selection may name 10,000 traces, and so may each row of the page.
    page = paginate(Rollback.objects.filter(project=visit.project).defer("selection", "forced"), request)
    keys = ApiKey.objects.filter(project=visit.project).order_by("-created_at")[:MOST_SHOWN]
    shown = {
        "page": page,
        "names": names_of(each.actor for each in page.rows),
        "keys": keys,
        "chosen": chosen,
        "problems": problems,
    }
    return render(request, "console/rollbacks.html", shown, status=422 if problems else 200)


@project_page(MemberRole.ADMIN)
def new(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Preview the rollback of the chosen traces; do it on POST."""
    if request.method != "POST" and not request.GET:
        return redirect("console:rollbacks", slug=visit.project.slug)
    chosen = {name: _text(request.GET, name) for name in CHOICES}
    version, key, replay = chosen["version"], chosen["key"], chosen["replay"]
    try:
        if version and not version.isdecimal():
            raise BadInput("is the number of a configuration version", at="version")
        selection = named_selection(
            project_id=visit.project.pk,
            trace_ids=[parse(Prefix.TRACE, each) for each in chosen["trace"].replace(",", " ").split()],
            version=min(int(version), 10**9) if version else None,
            api_key_id=parse(Prefix.API_KEY, key) if key else None,
            user_id=chosen["user"],
            session_id=chosen["session"],
            replay_id=parse(Prefix.REPLAY, replay) if replay else None,
            since=midnight(chosen["since"]),
            until=next_midnight(chosen["until"]),
        )
        asked = Rollback(
            project_id=visit.project.pk,
            selection=selection,
            forced=[str(parse(Prefix.MEMORY, each)) for each in request.POST.getlist("force")],
            note=_text(request.POST, "note"),
            rerun="rerun" in (request.POST if request.method == "POST" else request.GET),
        )
        if request.method == "POST":
            rollback = request_rollback(asked)
            return redirect("console:rollback", slug=visit.project.slug, rollback_id=rollback.pk)
        preview = preview_rollback(asked)
    except (Unfit, BadInput, BadIdentifier) as unfit:
        return _list(request, visit, chosen=chosen, problems=choice_problems(unfit, chosen=chosen))
    except Refused as refused:
        return render(request, "console/new_rollback.html", {"problem": str(refused), "chosen": chosen}, status=422)
    shown = {
        "preview": preview,
        "tiles": _tiles(preview.counts),
        "changes": _explained_changes(preview),
        "kept": _explained_kept(preview.kept),
        "most": MOST_SHOWN,
        "chosen": chosen,
        "rerun": asked.rerun,
    }
    return render(request, "console/new_rollback.html", shown)


@project_page(MemberRole.ADMIN)
def rollback(request: HttpRequest, visit: ProjectVisit, rollback_id: UUID) -> HttpResponse:
    """Show a rollback with its progress and what it has left alone."""
    rows = Rollback.objects.defer("selection", "forced")
    found = get_object_or_404(rows, project=visit.project, pk=rollback_id)
    users, waiting, kept = progress_of(found)
    shown = {
        "rollback": found,
        "users": users,
        "done": users - waiting,
        "tiles": _tiles(found.counts),
        "kept": _explained_kept(kept),
        "names": names_of(each for each in (found.actor, found.undone_by) if each),
        "undone": _undo_text(found.counts) if found.state == RollbackState.UNDONE else "",
    }
    part = "console/_rollback.html" if getattr(request, "htmx", None) else "console/rollback.html"
    return render(request, part, shown)


@project_action(page="rollback", row="rollback_id")
def undo(request: HttpRequest, visit: ProjectVisit, rollback_id: UUID) -> None:
    """Restore what a rollback took back."""
    undone = undo_rollback(project_id=visit.project.pk, rollback_id=rollback_id)
    if undone.is_over:
        messages.info(request, _undo_text(undone.counts))


def _text(given: QueryDict, name: str) -> str:
    return given.get(name, "").replace("\x00", " ").strip()[: 20 * MAX_CHARACTERS]


MOST_SHOWN = 100  # memories in a list
_WHY: dict[LeftAlone, str] = {
    LeftAlone.EDITED: "a person or a caller has changed it since",
    LeftAlone.SAID_ELSEWHERE: "other requests say it too: it stays with their words and sources",
    LeftAlone.SAID_AGAIN: "another memory says the same by now",
    LeftAlone.BUILT_UPON: "it was compared with a memory that goes, and may wait for review because of it",
    LeftAlone.RUN_AGAIN: "the requests were run again; roll that back instead",
    LeftAlone.ROLLED_BACK_SINCE: "a later rollback has changed it; undo that one first",
    LeftAlone.REPEATED: "its turn was rejected as a repetition of one that goes; it may be sent again",
}
_SHOWN_COUNTS = {
    "traces": "Traces",
    "memories_retracted": "Memories retracted",
    "memories_restored": "Memories restored",
    "memories_changed": "Memories changed",
    "sources_withdrawn": "Sources withdrawn",
    "entities_withdrawn": "Entities withdrawn",
    "links_closed": "Links closed",
    "work_cancelled": "Work cancelled",
    "left_alone": "Left alone",
    "undone_traces": "Traces restored by the undo",
    "undo_left_alone": "Left alone by the undo",
}


def _tiles(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the numbers of a rollback to show; those that are 0 are left out."""
    return [(name, counts[key]) for key, name in _SHOWN_COUNTS.items() if counts.get(key)]


def _undo_text(counts: Mapping[str, int]) -> str:
    """Return what an undo has restored, and what it has not."""
    restored, traces, kept = (counts.get(key, 0) for key in ("undone_traces", "traces", "undo_left_alone"))
    left = f"{count_of(kept, 'memory', 'memories')} left alone: see below why" if kept else ""
    if not restored:
        return f"Nothing was restored; {left or 'its traces were run again or are gone'}."
    some = f"The undo has restored {restored:,} of {count_of(traces, 'trace')}"
    return f"{some}; {left}." if left else f"{some}."


def _explained_kept(kept: Sequence[KeptRow]) -> list[tuple[Kept, Memory | Trace, str]]:
    """Return what is left alone with the reasons as sentences, what can be forced first."""
    ordered = sorted(kept, key=lambda each: not each[0].can_be_forced)
    return [(each, row, _WHY[each.reason]) for each, row in ordered[:MOST_SHOWN]]


def _explained_changes(preview: RollbackPreview) -> list[tuple[PreviewedMemory, str]]:
    """Return the memories that would change with what happens to them, what is retracted first."""
    ordered = sorted(preview.memories, key=lambda each: each.becomes != Status.RETRACTED)
    explained: list[tuple[PreviewedMemory, str]] = []
    for each in ordered[:MOST_SHOWN]:
        if "status" in each.changes:
            what = f"becomes {label(each.becomes)}"
        elif "content" in each.changes and each.changes["content"] != each.memory.content:
            what = f"gets its former words: {each.changes['content']}"
        elif "valid_until" in each.changes:
            what = "gets its former end"
        elif "recurrence" in each.changes:
            what = "loses sources, and confidence with them"
        else:
            what = "gets former values"
        explained.append((each, what))
    return explained
