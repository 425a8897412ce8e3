"""Endpoints /v1/links: contradictions and possible duplicates that await a decision."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.serializers import (
    OPTIONAL,
    ApiModelSerializer,
    ApiSerializer,
    DayStartField,
    EnumField,
    MomentField,
    NameField,
    NullIfBlankField,
    PageQuery,
    PublicIdField,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.memories.api.responses import MemorySerializer
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus, Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.review.decisions import Validity
from apps.review.services import SeenVersion, settle_link


class LinksQuery(PageQuery):
    """Filters for a list of links. `user_id` is optional for keys with scope admin.

    `status` `open` (the default) selects links that still have to be settled: both memories are live.
    """

    user_id = NameField(**OPTIONAL)
    status = EnumField(LinkStatus, default=LinkStatus.OPEN)
    kinds = serializers.ListField(child=EnumField(LinkKind), default=list)


class ValiditySerializer(ApiSerializer):
    """From when until when a memory is true; null leaves the start as it is, and the end open."""

    valid_from = MomentField(**OPTIONAL)
    valid_until = MomentField(**OPTIONAL)


class SettlementSerializer(ApiSerializer):
    """How to settle a link between `from`, the memory that was stored later, and `to`.

    `kept_from` and `kept_to` keep one of the two and reject the other; `changed` closes the older one where the newer
    one begins, or on `changed_on`; `both` keeps both, with the validities given: agents are told that they contradict
    each other while both hold; `unrelated` keeps both as no contradiction; `merged` merges the newer one into the older
    one. With a version, the memory must still be at that version.
    """

    resolution = EnumField(LinkResolution)
    changed_on = DayStartField(**OPTIONAL)
    from_version = serializers.IntegerField(min_value=1, **OPTIONAL)
    to_version = serializers.IntegerField(min_value=1, **OPTIONAL)
    from_validity = ValiditySerializer(**OPTIONAL)
    to_validity = ValiditySerializer(**OPTIONAL)


@extend_schema_serializer(component_name="LinkDetailResponse")
class LinkDetailSerializer(ApiModelSerializer):
    """Two memories that contradict each other or may be duplicates; `resolution` is null while the link is open."""

    # The context has the `memories` by their identifiers, read with Memory.objects.to_show.
    id = PublicIdField(Prefix.LINK)
    user_id = serializers.SerializerMethodField()
    kind = EnumField(LinkKind)
    status = EnumField(LinkStatus)
    resolution = NullIfBlankField()
    from_memory = serializers.SerializerMethodField()
    to_memory = serializers.SerializerMethodField()

    class Meta:
        model = MemoryLink
        fields = [
            *("id", "user_id", "kind", "status", "resolution", "from_memory", "to_memory", "created_at"),
            "settled_at",
        ]

    def get_user_id(self, link: MemoryLink) -> str:
        """Return whom both are about."""
        user_id: str = self.context["memories"][link.from_memory_id].end_user.external_id
        return user_id

    @extend_schema_field(MemorySerializer)
    def get_from_memory(self, link: MemoryLink) -> Any:
        """Return the memory that was stored later."""
        return MemorySerializer(self.context["memories"][link.from_memory_id]).data

    @extend_schema_field(MemorySerializer)
    def get_to_memory(self, link: MemoryLink) -> Any:
        """Return the memory that was stored before."""
        return MemorySerializer(self.context["memories"][link.to_memory_id]).data


class LinkViewSet(ApiViewSet):
    """The links between memories of the project."""

    prefix = Prefix.LINK
    queryset = MemoryLink.objects.all()
    lookup_url_kwarg = "link_id"
    scopes = {"POST": Scope.ADMIN}

    @operation("list_links", summary="List links", query=LinksQuery, answers={200: LinkDetailSerializer(many=True)})
    def list(self, request: Request) -> Response:
        """List contradictions and possible duplicates with their memories, newest first."""
        links, status = MemoryLink.objects.for_project(self.caller.project_id), self.query["status"]
        links = links.to_settle() if status is LinkStatus.OPEN else links.filter(status=status)
        if (user := self.end_user_id(self.query["user_id"])) is not None:
            links = links.filter(end_user_id=user)
        if self.query["kinds"]:
            links = links.filter(kind__in=self.query["kinds"])
        pages = Pages(limit=self.query["limit"])
        found = pages.read(links, request)
        return Response({**pages.links(), "results": _shown(found)})

    @operation(
        "settle_link",
        summary="Settle a link",
        body=SettlementSerializer,
        answers={200: LinkDetailSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"resolution": "changed", "changed_on": "2026-05-01"},
        is_repeatable=True,
    )
    @action(methods=["post"], detail=True)
    def settle(self, request: Request, link_id: str) -> Response:
        """Settle a link as a reviewer does in the console; what is kept counts as approved."""
        body, link = self.valid(SettlementSerializer), self.get_object()
        memories = Memory.objects.in_bulk([link.from_memory_id, link.to_memory_id])
        newer, older = memories[link.from_memory_id], memories[link.to_memory_id]
        given = {newer.id: body["from_validity"], older.id: body["to_validity"]}
        settle_link(
            project_id=self.caller.project_id,
            link_id=link.id,
            seen=(
                SeenVersion(newer.id, body["from_version"] or newer.version),
                SeenVersion(older.id, body["to_version"] or older.version),
            ),
            resolution=body["resolution"],
            validity={
                memory_id: Validity(begins=validity["valid_from"], ends=validity["valid_until"])
                for memory_id, validity in given.items()
                if validity is not None
            },
            changed_on=body["changed_on"],
        )
        (settled,) = _shown([self.get_object()])
        return Response(settled)


def _shown(links: Sequence[MemoryLink]) -> Any:
    """Return links as they are sent; all their memories are read with one statement."""
    sides = {side for link in links for side in (link.from_memory_id, link.to_memory_id)}
    memories = Memory.objects.to_show().in_bulk(sides)
    return LinkDetailSerializer(links, many=True, context={"memories": memories}).data
