"""/healthz and /readyz, for whatever keeps the service running."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.metrics import REGISTRY
from apps.api.readiness import readiness
from apps.api.schemas.health import Health, LivenessAnswer, ReadinessAnswer
from apps.api.views.base import plain


class HealthView(APIView):
    """Whether the process is alive."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(operation_id="healthz", summary="Is the process alive?", responses={200: LivenessAnswer}, auth=[])
    def get(self, request: Request) -> Response:
        """Answer without asking anything else, the database included."""
        return Response(plain(LivenessAnswer()))


class ReadyView(APIView):
    """Whether the service can serve."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="readyz",
        summary="Can the service serve?",
        responses={200: ReadinessAnswer, 503: ReadinessAnswer},
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Answer 503 without a database or with migrations owed; `degraded` when work waits too long or is dead."""
        found = readiness()
        return Response(plain(found), status=503 if found.status is Health.UNAVAILABLE else 200)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Tell Prometheus the same in its text format; who may ask is the proxy's business."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
