"""The endpoint /v1/work/retry, for keys with scope admin."""

from enum import StrEnum

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.serializers import ApiSerializer, EnumField, NameField
from apps.api.viewsets import ApiViewSet, operation
from apps.pipeline.core.enums import Scope, TraceStatus
from apps.queue.services import retry_failed


class FailedStatus(StrEnum):
    """How work failed: given up after its attempts, or with a response of the model that could not be used."""

    DEAD = TraceStatus.DEAD.value
    EXTRACTION_FAILED = TraceStatus.EXTRACTION_FAILED.value


class RetryWorkSerializer(ApiSerializer):
    """Which failed work to run again, by default all of it; `error` is a part of its error."""

    statuses = serializers.ListField(child=EnumField(FailedStatus), min_length=1, default=list(FailedStatus))
    error = serializers.CharField(max_length=4_000, allow_blank=True, default="")
    user_id = NameField(allow_null=True, default=None)


@extend_schema_serializer(component_name="RetryWorkResponse")
class RetriedWorkSerializer(ApiSerializer):
    """How many pieces of work will run again."""

    retried = serializers.IntegerField()


class WorkViewSet(ApiViewSet):
    """Retrying failed work."""

    scopes = {"POST": Scope.ADMIN}

    @operation(
        "retry_work",
        summary="Run failed work again",
        body=RetryWorkSerializer,
        answers={200: RetriedWorkSerializer},
        example={"statuses": ["dead"], "error": "connection refused"},
    )
    def retry(self, request: Request) -> Response:
        """Run dead work and failed extractions again; their attempts are reset.

        Work of one end user runs in the order in which it was accepted. A model that does not answer is tried at once.
        Repeating the request is harmless, so it takes no `Idempotency-Key`.
        """
        body = self.valid(RetryWorkSerializer)
        retried = retry_failed(
            project_id=self.caller.project_id,
            statuses=[TraceStatus(status) for status in body["statuses"]],
            error=body["error"],
            user_id=body["user_id"] or "",
        )
        return self.answer(RetriedWorkSerializer, {"retried": retried})
