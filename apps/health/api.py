"""Views of /healthz, /readyz and /metrics, for monitoring."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.base import to_json
from apps.api.problems import RETRY_AFTER_SECONDS
from apps.health.metrics import REGISTRY, caller_may_read_metrics
from apps.health.readiness import LivenessResponse, ReadinessResponse, ServiceStatus, readiness

_TEXT = "text/plain; charset=utf-8"


class HealthView(APIView):
    """Liveness of the process."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(operation_id="healthz", summary="Liveness", responses={200: LivenessResponse}, auth=[])
    def get(self, request: Request) -> Response:
        """Check that the process responds; nothing else is checked, not even the database."""
        return Response(to_json(LivenessResponse()))


class ReadyView(APIView):
    """Readiness of the service."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="readyz",
        summary="Readiness",
        responses={200: ReadinessResponse, 503: ReadinessResponse},
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Return 503 with `Retry-After` without a database, with unapplied migrations, or while nothing can be written.
        `degraded`: something else is wrong, as `problems` says.
        """
        found = readiness()
        shown = found if caller_may_read_metrics(request) else found.without_figures()
        if found.status is not ServiceStatus.UNAVAILABLE:
            return Response(to_json(shown))
        return Response(to_json(shown), status=503, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus in its text format; 401 without the configured token, or 403 to other networks."""
    if caller_may_read_metrics(request):
        return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
    if settings.METRICS_TOKEN:
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse("the token of METRICS_TOKEN is needed\n", status=401, headers=challenge, content_type=_TEXT)
    return HttpResponse("set METRICS_TOKEN to read this from elsewhere\n", status=403, content_type=_TEXT)
