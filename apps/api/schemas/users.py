"""Schemas of /v1/users and /v1/erasures."""

from dataclasses import asdict
from enum import StrEnum
from typing import Any

from apps.api.schemas.common import Moment, ResponseBody
from apps.memories.user_stats import UserStats
from apps.tenants.models import Erasure


class UserResponse(ResponseBody):
    """An end user, with the number of live memories, sessions and turns."""

    id: str
    user_id: str
    memories: int
    sessions: int
    turns: int
    created_at: Moment


class UserList(ResponseBody):
    """End users, ordered by `user_id`."""

    next: str | None
    previous: str | None
    results: list[UserResponse]


class UserStatsResponse(ResponseBody):
    """Numbers of what is known about an end user.

    `by_status` counts all memories; `by_type` and `by_agent` the live ones, the latter by the agent that told them
    first (the hundred agents with most). The times are those of live memories.
    """

    user_id: str
    by_status: dict[str, int]
    by_type: dict[str, int]
    by_agent: dict[str, int]
    sessions: int
    turns: int
    first_said_at: Moment | None
    last_said_at: Moment | None
    last_turn_at: Moment | None


class ErasureStatus(StrEnum):
    """Whether everything is deleted."""

    RUNNING = "running"
    DONE = "done"


class ErasureResponse(ResponseBody):
    """The receipt of an erasure; `deleted` counts the rows by table."""

    erasure_id: str
    status: ErasureStatus
    deleted: dict[str, int]
    requested_at: Moment
    finished_at: Moment | None


def user_response(user: Any) -> UserResponse:
    """Convert a row of list_users."""
    return UserResponse(
        id=user.shown_id,
        user_id=user.external_id,
        memories=user.live_memories,
        sessions=user.session_count,
        turns=user.turn_count,
        created_at=user.created_at,
    )


def user_stats_response(user_id: str, stats: UserStats) -> UserStatsResponse:
    """Convert the numbers of an end user."""
    return UserStatsResponse(user_id=user_id, **asdict(stats))


def erasure_response(erasure: Erasure) -> ErasureResponse:
    """Convert a receipt."""
    return ErasureResponse(
        erasure_id=erasure.shown_id,
        status=ErasureStatus.DONE if erasure.finished_at else ErasureStatus.RUNNING,
        deleted=erasure.counts,
        requested_at=erasure.requested_at,
        finished_at=erasure.finished_at,
    )
