"""Endpoints /v1/configuration, for keys with scope admin: the settings of a project, with its rules and redaction."""

from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import Code
from apps.api.serializers import OPTIONAL, ApiModelSerializer, ApiSerializer, QuerySerializer
from apps.api.viewsets import ApiViewSet, operation
from apps.common.errors import Unfit
from apps.common.rows import get_or_refuse
from apps.pipeline.core.enums import Scope
from apps.projects.services import activate_version, change_policy, save_draft
from apps.traces.models import ConfigurationVersion


class ConfigurationQuery(QuerySerializer):
    """Which version to read; left out: the active one."""

    version = serializers.IntegerField(min_value=1, **OPTIONAL)


@extend_schema_field({"type": "object", "additionalProperties": {}, "minProperties": 1})
class SettingsField(serializers.DictField):
    """Some settings, by section."""


@extend_schema_serializer(component_name="ConfigurationBody")
class ConfigurationChangeSerializer(ApiSerializer):
    """Settings to change, by section as in the response; what is left out stays as it is, and a list is replaced.

    `version` is the active version that the caller has read. A `draft` is not used until it is activated: a replay
    shows what it would change.
    """

    version = serializers.IntegerField(min_value=1)
    settings = SettingsField(allow_empty=False)
    note = serializers.CharField(max_length=255, allow_blank=True, default="")
    draft = serializers.BooleanField(default=False)


class ActivationSerializer(ApiSerializer):
    """The draft to activate, and the active version that the caller has read."""

    draft = serializers.IntegerField(min_value=1)
    version = serializers.IntegerField(min_value=1)


class ConfigurationSerializer(ApiModelSerializer):
    """A version of the settings of the project; versions never change."""

    version = serializers.IntegerField(source="number")
    settings = serializers.SerializerMethodField()

    class Meta:
        model = ConfigurationVersion
        fields = ["version", "is_active", "settings", "note", "created_at", "activated_at"]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_settings(self, made: ConfigurationVersion) -> dict[str, Any]:
        """Return all values; settings that are newer than the version have their defaults."""
        return made.as_policy().model_dump(mode="json")


class ConfigurationViewSet(ApiViewSet):
    """The settings of the project."""

    scopes = dict.fromkeys(("GET", "HEAD", "PATCH", "POST"), Scope.ADMIN)

    @operation(
        "read_configuration",
        summary="Read the settings",
        query=ConfigurationQuery,
        answers={200: ConfigurationSerializer},
        problems=[Code.NOT_FOUND],
    )
    def retrieve(self, request: Request) -> Response:
        """Return a version of the settings with all values."""
        versions = ConfigurationVersion.objects.filter(project_id=self.caller.project_id)
        number = self.query["version"]
        found = get_or_refuse(versions.filter(**{"number": number} if number else {"is_active": True}), "version")
        return self.answer(ConfigurationSerializer, found)

    @operation(
        "change_configuration",
        summary="Change settings",
        body=ConfigurationChangeSerializer,
        answers={200: ConfigurationSerializer},
        problems=[Code.CONFLICT],
        example={"version": 1, "settings": {"sharing": {"memory_sharing": "by_agent"}}, "note": "two teams"},
    )
    def partial_update(self, request: Request) -> Response:
        """Make a new version with other values, active at once or a draft. Without a difference none is made.

        Requests and work that begin later use it. Rules of the pre-filter are in `pre_filter.rules`, what is masked
        before it is stored in `redaction`.
        """
        body = self.valid(ConfigurationChangeSerializer)
        change = save_draft if body["draft"] else change_policy
        try:
            made = change(
                project_id=self.caller.project_id,
                base=body["version"],
                changes=dict(_leaves(body["settings"])),
                note=body["note"],
            )
        except Unfit as unfit:
            raise Unfit(str(unfit), at=f"/settings{unfit.at}") from unfit
        return self.answer(ConfigurationSerializer, made)

    @operation(
        "activate_configuration",
        summary="Activate a draft of the settings",
        body=ActivationSerializer,
        answers={200: ConfigurationSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"draft": 3, "version": 2},
    )
    @action(methods=["post"], detail=False)
    def activate(self, request: Request) -> Response:
        """Make a draft the active version."""
        body = self.valid(ActivationSerializer)
        made = activate_version(project_id=self.caller.project_id, number=body["draft"], seen=body["version"])
        return self.answer(ConfigurationSerializer, made)


def _leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values that are no sections, with their paths."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value
