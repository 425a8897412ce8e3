"""The addresses that mem0's client calls, answered in its words. They are no part of the OpenAPI document."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import REFUSED
from apps.api.base import ApiView
from apps.api.problems import Code, Problem, invalid
from apps.api.validation import read_id
from apps.common.rows import get_or_refuse
from apps.intake.accept import KeyRefused, accept
from apps.intake.api.turns import take_turns
from apps.intake.quotas import check_quotas
from apps.mem0.bodies import (
    NAMES,
    Mem0AddBody,
    Mem0ListBody,
    Mem0SearchBody,
    Mem0UpdateBody,
    read_body,
    written_filters,
)
from apps.memories.api.memories import bulk_items
from apps.memories.api.requests import new_memories, revision_of, selected, statuses_of, store_request
from apps.memories.api.responses import MemorySerializer
from apps.memories.models import Memory, MemoryVersion
from apps.memories.querysets import MemoryQuerySet
from apps.memories.services.revising import retract, retract_several, revise
from apps.memories.services.store import store
from apps.pipeline.core.enums import LIVE_STATUSES, Scope, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import checked_name
from apps.privacy.users import erase_user, list_users
from apps.retrieval.api import search_query
from apps.retrieval.services import search_memories

MOST_USERS = 10_000
GONE = (Status.RETRACTED, Status.REJECTED)
_SHOWN = ("id", "user_id", "agent_id", "app_id", "run_id", "metadata", "created_at", "updated_at")


def mem0_memory(memory: Memory) -> dict[str, Any]:
    """Return a memory read with its subject, end user and session (Memory.objects.to_show)."""
    shown = MemorySerializer(memory).data
    return {name: shown[name] for name in _SHOWN} | {
        "memory": shown["content"],
        "categories": [shown["topic"]] if shown["topic"] else [],
        "expiration_date": shown["expires_at"],
    }


class Mem0View(ApiView):
    """A view for mem0's client, which sends parameters of its own and reads errors as plain JSON."""

    def __init_subclass__(cls) -> None:
        """Leave the view out of the OpenAPI document."""
        extend_schema(exclude=True)(cls)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Answer with a content type of which the client reads the `detail` of errors."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer.content_type = "application/json"
        return answer

    def memories(self) -> MemoryQuerySet:
        """Return the memories of the project."""
        return Memory.objects.for_project(self.caller.project_id).to_show()

    def memory(self, memory_id: str, *, without: tuple[Status, ...] = GONE) -> Memory:
        """Return a memory that has not been deleted. Raises NotFound."""
        rows = self.memories().filter(id=read_id(Prefix.MEMORY, memory_id))
        return get_or_refuse(rows.exclude(status__in=without), "memory")

    def listed(self, wanted: Mem0ListBody, *, shown: tuple[Status, ...] = (Status.ACTIVE,)) -> MemoryQuerySet:
        """Return the memories that are meant, of the statuses shown or those that the filter names."""
        query = wanted.selection()
        rows = selected(self.memories(), query, end_user_id=self.end_user_id(query["user_id"]))
        return rows.filter(status__in=statuses_of(query, shown=shown)).order_by("-id")


class Mem0RefusalView(Mem0View):
    """An address that is refused with a reason, which the client raises as its ValidationError."""

    scopes = dict.fromkeys(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), Scope.READ)
    reason = ""  # of as_view

    def _refuse(self, request: Request, **_: Any) -> Response:
        raise Problem(Code.NOT_SUPPORTED, self.reason)

    get = post = put = patch = delete = _refuse


class Mem0PingView(Mem0View):
    """Whether a key is valid, and of which project."""

    def get(self, request: Request) -> Response:
        """Return the project as organisation and project."""
        project = show(Prefix.PROJECT, self.caller.project_id)
        return Response({"status": "ok", "org_id": project, "project_id": project, "user_email": None})


class Mem0AddView(Mem0View):
    """Adding memories."""

    def post(self, request: Request) -> Response:
        """Accept messages as turns; with `infer: false` store each as a memory."""
        body = read_body(request, Mem0AddBody)
        if not body.infer:
            given, skipped = body.memories()
            check_quotas(project_id=self.caller.project_id)
            memories = new_memories(given, caller=self.caller, now=timezone.now())
            ids = store(request=store_request(given["user_id"], memories, caller=self.caller))
            found = self.memories().in_bulk(list(ids))
            rows = [found[each] for each in ids]
            made = [{"id": row.shown_id, "data": {"memory": row.content}, "event": "ADD"} for row in rows]
            return Response({"results": made, "skipped": skipped})
        taken = take_turns(body.turns(), caller=self.caller, now=timezone.now())
        try:
            accepted = accept(submission=taken.submission)
        except KeyRefused as refused:
            raise AuthenticationFailed(REFUSED) from refused
        left_out = [{**each, "pointer": each["pointer"].replace("/turns/", "/messages/", 1)} for each in taken.skipped]
        return Response(
            {
                "event_id": show(Prefix.TRACE, accepted.trace_id),
                "status": "PENDING",
                "message": "Memory processing has been queued",
                "skipped": left_out,
            }
        )


class Mem0SearchView(Mem0View):
    """Search of memories."""

    scopes = {"POST": Scope.READ}

    def post(self, request: Request) -> Response:
        """Search the memories of an end user."""
        body = read_body(request, Mem0SearchBody).search()
        query = search_query(body)
        found = search_memories(project_id=self.caller.project_id, user_id=body["user_id"], query=query)
        results = [
            mem0_memory(hit.memory)
            | {"score": round(hit.score, 4), "unverified": hit.is_unverified, "disputed": bool(hit.contradicted_by)}
            for hit in found.hits
        ]
        return Response({"results": results})


class Mem0ListView(Mem0View):
    """Lists of memories."""

    scopes = {"POST": Scope.READ}

    def post(self, request: Request) -> Response:
        """List a page of memories, newest first."""
        rows = self.listed(read_body(request, Mem0ListBody))
        page, size = self._number("page", 1, 100_000), self._number("page_size", 100, 1_000)
        count = rows.count()
        return Response(
            {
                "count": count,
                "next": f"{request.path}?page={page + 1}&page_size={size}" if page * size < count else None,
                "previous": f"{request.path}?page={page - 1}&page_size={size}" if page > 1 else None,
                "results": [mem0_memory(each) for each in rows[(page - 1) * size : page * size]],
            }
        )

    def _number(self, name: str, usual: int, most: int) -> int:
        text = self.request.GET.get(name, str(usual))
        if not (text.isascii() and text.isdecimal() and len(text) < 9 and 1 <= int(text) <= most):
            raise invalid(f"must be a number from 1 to {most:,}", at=name)
        return int(text)


_DELETED_BY = {*NAMES, "filters", "org_id", "project_id"}


class Mem0MemoriesView(Mem0View):
    """The memories of an end user, to be deleted."""

    scopes = {"DELETE": Scope.ADMIN}

    def delete(self, request: Request) -> Response:
        """Retract all memories of an end user that fit, also those that await review.

        Those whose tags bind agents need the scope trust; the answer names what was refused. A parameter that mem0's
        client does not send is refused: it would narrow what `DELETE /v1/memories` retracts.
        """
        if unknown := request.GET.keys() - _DELETED_BY:
            known = "user_id, agent_id, app_id, run_id and filters at this address of mem0's; others at /v1/memories"
            raise invalid(f"is unknown; known are {known}", at=min(unknown))
        names = {name: request.GET.get(name) for name in NAMES}
        filters = written_filters(request.GET.get("filters"))
        wanted = Mem0ListBody(**names, filters=filters)  # type: ignore[arg-type]  # the names are of fields of text
        rows = self.listed(wanted, shown=tuple(LIVE_STATUSES))
        outcomes = retract_several(
            project_id=self.caller.project_id,
            memories=rows,
            is_trusted=self.caller.may(Scope.TRUST),
        )
        refused = [each for each in outcomes if each.error is not None]
        if not refused:
            return Response({"message": "Memories deleted successfully!"})
        if len(refused) == len(outcomes) and refused[0].error is not None:
            raise refused[0].error
        message = f"{len(outcomes) - len(refused)} of {len(outcomes)} memories deleted"
        return Response({"message": message, "results": bulk_items(refused)})


class Mem0MemoryView(Mem0View):
    """One memory."""

    def get(self, request: Request, memory_id: str) -> Response:
        """Return a memory that has not been deleted."""
        return Response(mem0_memory(self.memory(memory_id)))

    def put(self, request: Request, memory_id: str) -> Response:
        """Change a memory."""
        memory = self.memory(memory_id)
        revised = read_body(request, Mem0UpdateBody).revision()
        revise(revision=revision_of(revised, memory_id=memory.id, caller=self.caller))
        return Response(mem0_memory(self.memory(memory_id)))

    def delete(self, request: Request, memory_id: str) -> Response:
        """Retract a memory."""
        retract(
            project_id=self.caller.project_id,
            memory_id=self.memory(memory_id).id,
            expected_version=None,
            is_trusted=self.caller.may(Scope.TRUST),
        )
        return Response({"message": "Memory deleted successfully!"})


class Mem0HistoryView(Mem0View):
    """The history of a memory."""

    def get(self, request: Request, memory_id: str) -> Response:
        """List the changes of a memory, oldest first: added, each wording that replaced another, deleted."""
        memory = self.memory(memory_id, without=())
        rows = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory).order_by("version")
        versions = list(rows)
        states: list[dict[str, Any]] = [{"content": memory.content, "metadata": memory.metadata}]  # the latest first
        for each in reversed(versions):  # a version holds only what its change replaced
            states.append({name: each.values.get(name, value) for name, value in states[-1].items()})
        states.reverse()
        changes = [self._change(memory, 0, "ADD", None, states[0], memory.created_at)]
        for place, each in enumerate(versions, start=1):
            event = "DELETE" if place == len(versions) and memory.status in GONE else "UPDATE"
            old = states[place - 1]["content"]
            changes.append(self._change(memory, place, event, old, states[place], each.known_until))
        return Response(changes)

    @staticmethod
    def _change(
        memory: Memory, place: int, event: str, old: str | None, state: dict[str, Any], at: Any
    ) -> dict[str, Any]:
        return {
            "id": f"{memory.shown_id}-{place}",
            "memory_id": memory.shown_id,
            "input": [],
            "old_memory": old,
            "new_memory": None if event == "DELETE" else state["content"],
            "event": event,
            "user_id": memory.end_user.external_id,
            "metadata": state["metadata"],
            "created_at": at,
            "updated_at": at,
        }


class Mem0EntitiesView(Mem0View):
    """The end users of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    def get(self, request: Request) -> Response:
        """List end users; agents, applications and runs are not listed.

        The client asks for no further pages, and deletes whom it is shown to delete all: more than 10,000 are refused.
        """
        users: Any = list_users(project_id=self.caller.project_id).order_by("external_id")
        found = [
            {
                "id": user.shown_id,
                "name": user.external_id,
                "type": "user",
                "total_memories": user.live_memories,
                "owner": None,
                "created_at": user.created_at,
                "updated_at": user.created_at,
            }
            for user in users[: MOST_USERS + 1]
        ]
        if len(found) > MOST_USERS:
            told = f"there are more than {MOST_USERS:,} end users: use GET /v1/users, and delete_users(user_id=…)"
            raise Problem(Code.NOT_SUPPORTED, told)
        return Response({"count": len(found), "next": None, "previous": None, "results": found})


class Mem0UserView(Mem0View):
    """An end user, to be deleted."""

    scopes = {"DELETE": Scope.ADMIN}
    archived_methods = ("DELETE",)  # as in DELETE /v1/users/{user_id}

    def delete(self, request: Request, name: str) -> Response:
        """Erase an end user with all data."""
        erasure = erase_user(project_id=self.caller.project_id, user_id=checked_name(name, at="name"))
        state = "Entity deleted successfully!" if erasure.finished_at else "Entity deletion is under way"
        return Response({"message": state})
