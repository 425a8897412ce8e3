"""What mem0's client is told about a user as text, and what it says about memories."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.memories.build_context import ContextRequest, build_context
from apps.actions.review.services import Reviewer, comment_on_memory
from apps.api.mem0.base import Mem0View
from apps.api.mem0.bodies import Mem0FeedbackBody, Mem0ListBody
from apps.api.search import context_query
from apps.api.validation import read_body
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.input_validation import checked_name


@extend_schema(exclude=True)
class Mem0SummaryView(Mem0View):
    """A summary of what is known about a user."""

    scopes = {"POST": Scope.READ}

    def post(self, request: Request) -> Response:
        """Return the context block about an end user."""
        body = read_body(request, Mem0ListBody).context()
        asked = ContextRequest(
            project_id=self.caller.project_id,
            user_id=checked_name(body.user_id, at="/user_id"),
            query=context_query(body),
        )
        return Response({"summary": build_context(request=asked).block.text})


@extend_schema(exclude=True)
class Mem0FeedbackView(Mem0View):
    """Feedback about a memory."""

    def post(self, request: Request) -> Response:
        """Store feedback as a comment on the memory, for reviewers."""
        body = read_body(request, Mem0FeedbackBody)
        memory = self.memory(body.memory_id)
        by = Reviewer(project_id=self.caller.project_id, api_key_id=self.caller.api_key_id)
        comment_on_memory(by=by, memory_id=memory.id, text=body.text())
        return Response({"id": memory.shown_id, "feedback": body.feedback, "feedback_reason": body.feedback_reason})
