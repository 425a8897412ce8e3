"""What the views for mem0's client share. Their addresses are no part of the OpenAPI document."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.mem0.bodies import Mem0ListBody
from apps.api.memory_selection import selected, statuses_of
from apps.api.validation import not_found, read_id
from apps.api.views.base import ApiView
from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import Prefix


class Mem0View(ApiView):
    """A view for mem0's client, which sends parameters of its own and reads errors as plain JSON."""

    def __init_subclass__(cls) -> None:
        """Let all methods take query parameters: those that mean nothing here are ignored."""
        for method in cls.http_method_names:
            if method in vars(cls):
                vars(cls)[method].takes_query = True  # ApiView.initial reads it

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Answer with a content type of which the client reads the `detail` of errors."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer.content_type = "application/json"
        return answer

    def memories(self) -> MemoryQuerySet:
        """Return the memories of the project."""
        return Memory.objects.for_project(self.caller.project_id).to_show()

    def memory(self, memory_id: str) -> Memory:
        """Return a memory. Raises Problem not_found."""
        found: Memory | None = self.memories().filter(id=read_id(Prefix.MEMORY, memory_id)).first()
        if found is None:
            raise not_found()
        return found

    def listed(self, wanted: Mem0ListBody, *, shown: tuple[Status, ...] = (Status.ACTIVE,)) -> MemoryQuerySet:
        """Return the memories that are meant, of the statuses shown or those that the filter names."""
        query = wanted.selection()
        rows = selected(self.memories(), query, end_user_id=self.end_user_id(query.user_id))
        return rows.filter(status__in=statuses_of(query, shown=shown)).order_by("-id")
