"""Views of /v1/links: contradictions and possible duplicates that await a decision."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from msgspec import Meta
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas import DayStart, Identifier, Limit, Moment, PageBody, QueryParameters, RequestBody, ResponseBody
from apps.api.validation import not_found, read_id
from apps.memories.api.responses import MemoryResponse, memory_response
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus, Scope
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import checked_moment
from apps.pipeline.review.decisions import Validity
from apps.review.services import SeenVersion, settle_link

Version = Annotated[int, Meta(ge=1)]


class LinksQuery(QueryParameters):
    """Filters for a list of links. `user_id` is optional for keys with scope admin.

    `status` `open` (the default) selects links that still have to be settled: both memories are live.
    """

    user_id: Identifier | None = None
    status: LinkStatus = LinkStatus.OPEN
    kinds: tuple[LinkKind, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class ValidityBody(RequestBody):
    """From when until when a memory is true; null leaves the start as it is, and the end open."""

    valid_from: Moment | None = None
    valid_until: Moment | None = None


class SettlementBody(RequestBody):
    """How to settle a link between `from`, the memory that was stored later, and `to`.

    `kept_from` and `kept_to` keep one of the two and reject the other; `changed` closes the older one where the newer
    one begins, or on `changed_on`; `both` keeps both, with the validities given: agents are told that they contradict
    each other while both hold; `unrelated` keeps both as no contradiction; `merged` merges the newer one into the older
    one. With a version, the memory must still be at that version.
    """

    resolution: LinkResolution
    changed_on: DayStart | None = None
    from_version: Version | None = None
    to_version: Version | None = None
    from_validity: ValidityBody | None = None
    to_validity: ValidityBody | None = None


class LinkDetailResponse(ResponseBody):
    """Two memories that contradict each other or may be duplicates; `resolution` is null while the link is open."""

    id: str
    user_id: str
    kind: LinkKind
    status: LinkStatus
    resolution: str | None
    from_memory: MemoryResponse
    to_memory: MemoryResponse
    created_at: Moment
    settled_at: Moment | None


class LinkList(PageBody):
    """Links, newest first."""

    results: list[LinkDetailResponse]


def link_response(link: MemoryLink, *, memories: dict[UUID, Memory]) -> LinkDetailResponse:
    """Convert a link; `memories` holds its two memories, read with Memory.objects.to_show."""
    return LinkDetailResponse(
        id=show(Prefix.LINK, link.id),
        user_id=memories[link.from_memory_id].end_user.external_id,
        kind=LinkKind(link.kind),
        status=LinkStatus(link.status),
        resolution=link.resolution or None,
        from_memory=memory_response(memories[link.from_memory_id]),
        to_memory=memory_response(memories[link.to_memory_id]),
        created_at=link.created_at,
        settled_at=link.settled_at,
    )


def validities_of(body: SettlementBody, *, link: MemoryLink) -> dict[UUID, Validity]:
    """Return the given validities by memory. Raises BadInput with the pointer of an invalid time."""
    given = {
        link.from_memory_id: ("from_validity", body.from_validity),
        link.to_memory_id: ("to_validity", body.to_validity),
    }
    return {
        memory_id: Validity(
            begins=checked_moment(validity.valid_from, at=f"/{name}/valid_from"),
            ends=checked_moment(validity.valid_until, at=f"/{name}/valid_until"),
        )
        for memory_id, (name, validity) in given.items()
        if validity is not None
    }


class LinksView(ApiView):
    """The links between memories of the project."""

    @operation("list_links", summary="List links")
    def get(self, request: Request, query: LinksQuery) -> LinkList:
        """List contradictions and possible duplicates with their memories, newest first."""
        links = MemoryLink.objects.for_project(self.caller.project_id)
        links = links.to_settle() if query.status is LinkStatus.OPEN else links.filter(status=query.status)
        if (user := self.end_user_id(query.user_id)) is not None:
            links = links.filter(end_user_id=user)
        if query.kinds:
            links = links.filter(kind__in=query.kinds)
        pages = Pages(limit=query.limit)
        found = pages.read(links, request)
        return LinkList(results=_responses(found), **pages.links())


class LinkSettleView(ApiView):
    """Settling a link."""

    scopes = {"POST": Scope.ADMIN}

    @operation(
        "settle_link",
        summary="Settle a link",
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"resolution": "changed", "changed_on": "2026-05-01"},
        repeatable=True,
    )
    def post(self, request: Request, link_id: str, body: SettlementBody) -> LinkDetailResponse:
        """Settle a link as a reviewer does in the console; what is kept counts as approved."""
        link = self._link(link_id)
        memories = Memory.objects.in_bulk([link.from_memory_id, link.to_memory_id])
        newer, older = memories[link.from_memory_id], memories[link.to_memory_id]
        settle_link(
            project_id=self.caller.project_id,
            link_id=link.id,
            seen=(
                SeenVersion(newer.id, body.from_version or newer.version),
                SeenVersion(older.id, body.to_version or older.version),
            ),
            resolution=body.resolution,
            validity=validities_of(body, link=link),
            changed_on=checked_moment(body.changed_on, at="/changed_on"),
        )
        (settled,) = _responses([self._link(link_id)])
        return settled

    def _link(self, link_id: str) -> MemoryLink:
        links = MemoryLink.objects.for_project(self.caller.project_id)
        link: MemoryLink | None = links.filter(id=read_id(Prefix.LINK, link_id)).first()
        if link is None:
            raise not_found()
        return link


def _responses(links: Sequence[MemoryLink]) -> list[LinkDetailResponse]:
    """Convert links; all their memories are read with one statement."""
    sides = {side for link in links for side in (link.from_memory_id, link.to_memory_id)}
    memories = Memory.objects.to_show().in_bulk(sides)
    return [link_response(link, memories=memories) for link in links]
