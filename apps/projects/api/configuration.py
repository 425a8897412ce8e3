"""Views of /v1/configuration, for keys with scope admin: the settings of a project, with its rules and redaction."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import Moment, QueryParameters, RequestBody, ResponseBody, response_of
from apps.common.errors import Unfit
from apps.common.rows import get_or_refuse
from apps.pipeline.core.enums import Scope
from apps.projects.services import activate_version, change_policy, save_draft
from apps.traces.models import ConfigurationVersion

VersionNumber = Annotated[int, Meta(ge=1)]


class ConfigurationQuery(QueryParameters):
    """Which version to read; left out: the active one."""

    version: VersionNumber | None = None


class ConfigurationBody(RequestBody):
    """Settings to change, by section as in the response; what is left out stays as it is, and a list is replaced.

    `version` is the active version that the caller has read. A `draft` is not used until it is activated: a replay
    shows what it would change.
    """

    version: VersionNumber
    settings: Annotated[dict[str, Any], Meta(min_length=1)]
    note: Annotated[str, Meta(max_length=255)] = ""
    draft: bool = False


class ActivationBody(RequestBody):
    """The draft to activate, and the active version that the caller has read."""

    draft: VersionNumber
    version: VersionNumber


class ConfigurationResponse(ResponseBody):
    """A version of the settings of the project; versions never change."""

    version: int
    is_active: bool
    settings: dict[str, Any]
    note: str
    created_at: Moment
    activated_at: Moment | None


def configuration_response(made: ConfigurationVersion) -> ConfigurationResponse:
    """Convert a version; settings that are newer than it have their defaults."""
    return response_of(
        ConfigurationResponse, made, version=made.number, settings=made.as_policy().model_dump(mode="json")
    )


class ConfigurationView(ApiView):
    """The settings of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN, "PATCH": Scope.ADMIN}

    @operation("read_configuration", summary="Read the settings", problems=[Code.NOT_FOUND])
    def get(self, request: Request, query: ConfigurationQuery) -> ConfigurationResponse:
        """Return a version of the settings with all values."""
        versions = ConfigurationVersion.objects.filter(project_id=self.caller.project_id)
        wanted = {"is_active": True} if query.version is None else {"number": query.version}
        found = get_or_refuse(versions.filter(**wanted), "version")
        return configuration_response(found)

    @operation(
        "change_configuration",
        summary="Change settings",
        problems=[Code.CONFLICT],
        example={"version": 1, "settings": {"sharing": {"memory_sharing": "by_agent"}}, "note": "two teams"},
    )
    def patch(self, request: Request, body: ConfigurationBody) -> ConfigurationResponse:
        """Make a new version with other values, active at once or a draft. Without a difference none is made.

        Requests and work that begin later use it. Rules of the pre-filter are in `pre_filter.rules`, what is masked
        before it is stored in `redaction`.
        """
        change = save_draft if body.draft else change_policy
        try:
            made = change(
                project_id=self.caller.project_id,
                base=body.version,
                changes=dict(_leaves(body.settings)),
                note=body.note,
            )
        except Unfit as unfit:
            raise Unfit(str(unfit), at=f"/settings{unfit.at}") from unfit
        return configuration_response(made)


class ConfigurationActivationView(ApiView):
    """Activating a draft."""

    scopes = {"POST": Scope.ADMIN}

    @operation(
        "activate_configuration",
        summary="Activate a draft of the settings",
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"draft": 3, "version": 2},
    )
    def post(self, request: Request, body: ActivationBody) -> ConfigurationResponse:
        """Make a draft the active version."""
        made = activate_version(project_id=self.caller.project_id, number=body.draft, seen=body.version)
        return configuration_response(made)


def _leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values that are no sections, with their paths."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value
