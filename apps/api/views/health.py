"""/healthz and /readyz, for whatever keeps the service running."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.metrics import REGISTRY
from apps.api.metrics_access import may_read_metrics
from apps.api.readiness import readiness
from apps.api.schemas.health import Health, LivenessAnswer, ReadinessAnswer
from apps.api.views.base import plain

_TEXT = "text/plain; charset=utf-8"


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
    """Answer Prometheus in its text format; 401 without the configured token, or 403 to other networks."""
    if may_read_metrics(request):
        return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
    if settings.METRICS_TOKEN:
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse("the token of METRICS_TOKEN is needed\n", status=401, headers=challenge, content_type=_TEXT)
    return HttpResponse("set METRICS_TOKEN to read this from elsewhere\n", status=403, content_type=_TEXT)
