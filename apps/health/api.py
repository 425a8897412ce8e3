"""Views of /healthz, /readyz and /metrics, for monitoring."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.alerts.enums import ProblemCode
from apps.api.problems import RETRY_AFTER_SECONDS
from apps.api.serializers import ApiSerializer, EnumField
from apps.health.metrics import REGISTRY, caller_may_read_metrics
from apps.health.readiness import ServiceStatus, readiness

_TEXT = "text/plain; charset=utf-8"


class LivenessSerializer(ApiSerializer):
    """The process is running."""

    status = EnumField(ServiceStatus)


class PausedModelSerializer(ApiSerializer):
    """A model or embedder that has not answered since then; work that needs it waits in so many projects."""

    model = serializers.CharField(source="subject")
    since = serializers.DateTimeField()
    projects = serializers.IntegerField(source="figures.projects")


@extend_schema_serializer(component_name="ServiceProblem")
class ServiceProblemSerializer(ApiSerializer):
    """Something that is wrong, what to do about it, and since when it is known to be so."""

    code = EnumField(ProblemCode)
    detail = serializers.CharField(source="advice.text")
    since = serializers.DateTimeField(allow_null=True)


class ReadinessSerializer(ApiSerializer):
    """State of database, queue and models. Ages are in seconds, 0 if nothing is pending; `dead` counts failed work.

    `writable`: the database is neither read-only nor known to have a full disk.

    `scheduler_seconds` is the age of the scheduler's heartbeat, null before the first.

    Callers that may not read /metrics get null in place of figures, and no names of models.
    """

    status = EnumField(ServiceStatus)
    database = serializers.BooleanField()
    migrations = serializers.BooleanField()
    writable = serializers.BooleanField()
    oldest_queued_seconds = serializers.FloatField(allow_null=True)
    vector_lag_seconds = serializers.FloatField(allow_null=True)
    dead = serializers.IntegerField(allow_null=True)
    workers_alive = serializers.IntegerField(allow_null=True)
    scheduler_seconds = serializers.FloatField(allow_null=True)
    paused_models = PausedModelSerializer(many=True)
    problems = ServiceProblemSerializer(many=True)


class HealthView(APIView):
    """Liveness of the process."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(operation_id="healthz", summary="Liveness", responses={200: LivenessSerializer}, auth=[])
    def get(self, request: Request) -> Response:
        """Check that the process responds; nothing else is checked, not even the database."""
        return Response({"status": ServiceStatus.OK.value})


class ReadyView(APIView):
    """Readiness of the service."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="readyz",
        summary="Readiness",
        responses={200: ReadinessSerializer, 503: ReadinessSerializer},
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Return 503 with `Retry-After` without a database, with unapplied migrations, or while nothing can be written.
        `degraded`: something else is wrong, as `problems` says.
        """
        found = readiness()
        shown = found if caller_may_read_metrics(request) else found.without_figures()
        answer = ReadinessSerializer(shown).data
        if found.status is not ServiceStatus.UNAVAILABLE:
            return Response(answer)
        return Response(answer, status=503, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus in its text format; 401 without the configured token, or 403 to other networks."""
    if caller_may_read_metrics(request):
        return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
    if settings.METRICS_TOKEN:
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return HttpResponse("the token of METRICS_TOKEN is needed\n", status=401, headers=challenge, content_type=_TEXT)
    return HttpResponse("set METRICS_TOKEN to read this from elsewhere\n", status=403, content_type=_TEXT)
