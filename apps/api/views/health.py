"""Views of /healthz, /readyz and /metrics, for monitoring."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.metrics import REGISTRY
from apps.api.readiness import readiness
from apps.api.schemas.health import LivenessResponse, ReadinessResponse, ServiceStatus
from apps.api.views.base import to_json


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
        """Return 503 without a database or with unapplied migrations. `degraded`: late or failed work, or no worker."""
        found = readiness()
        return Response(to_json(found), status=503 if found.status is ServiceStatus.UNAVAILABLE else 200)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics in the Prometheus text format; restrict access in the reverse proxy."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
