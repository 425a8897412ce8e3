"""Take in a file of conversations by the same door as the REST interface; what was taken before is passed over."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from apps.actions.errors import Refused
from apps.intake.accept import Submission, accept
from apps.intake.formats.parsed_turn import BadLine, ParsedTurn
from apps.outbox.wake_workers import wake_workers
from apps.pipeline.core.identifiers import end_user_id, session_id
from apps.traces.models import Turn

TURNS_A_REQUEST = 50


class BadFile(Refused):
    """Places of a file can't be taken; nothing of it was."""

    def __init__(self, places: Sequence[BadLine]) -> None:
        super().__init__(f"{len(places)} bad {'place' if len(places) == 1 else 'places'}")
        self.places = tuple(places)


@dataclass(frozen=True, slots=True)
class Ingested:
    """How many turns were taken now, in how many requests, and how many were known."""

    turns: int
    requests: int
    known: int
    end_users: frozenset[UUID]


def sound(read: Iterable[ParsedTurn | BadLine]) -> tuple[ParsedTurn, ...]:
    """Return the turns of a file when all of it can be taken. Raises BadFile."""
    said: list[ParsedTurn] = []
    bad: list[BadLine] = []
    seen: set[tuple[str, str, str]] = set()
    for each in read:
        if isinstance(each, BadLine):
            bad.append(each)
            continue
        named = (each.user_id, each.session_id, each.turn.external_id)
        if named in seen:
            bad.append(BadLine(at=each.at, message=f"turn_id {each.turn.external_id!r} names two turns of the session"))
        seen.add(named)
        said.append(each)
    if bad:
        raise BadFile(bad)
    return tuple(said)


def ingest(
    *, project_id: UUID, said: Sequence[ParsedTurn], progress: Callable[[int], None] = lambda _: None
) -> Ingested:
    """Accept turns session by session, in requests of up to 50 turns; each is taken whole or not at all.

    Turns are known by their turn_id within the session, so that a run that was stopped can be taken up again.
    `progress` is told how many turns have been dealt with after each request.
    """
    taken = requests = known = 0
    users: set[UUID] = set()
    for batch in _batches(said):
        user = end_user_id(project_id=project_id, user_id=batch[0].user_id)
        fresh = _fresh(batch, user)
        if fresh:
            accept(submission=_submission(project_id, fresh))
            wake_workers()
        users.add(user)
        taken, known, requests = taken + len(fresh), known + len(batch) - len(fresh), requests + bool(fresh)
        progress(taken + known)
    return Ingested(turns=taken, requests=requests, known=known, end_users=frozenset(users))


def _batches(said: Sequence[ParsedTurn]) -> Iterator[list[ParsedTurn]]:
    """Yield turns of one session at a time, sessions in the order in which the file begins them."""
    sessions: dict[tuple[str, str], list[ParsedTurn]] = {}
    for each in said:
        sessions.setdefault((each.user_id, each.session_id), []).append(each)
    for turns in sessions.values():
        rest = iter(turns)
        while batch := list(islice(rest, TURNS_A_REQUEST)):
            yield batch


def _fresh(batch: Sequence[ParsedTurn], user: UUID) -> list[ParsedTurn]:
    session = session_id(end_user_id=user, session_id=batch[0].session_id)
    ids = [each.turn.external_id for each in batch]
    rows = Turn.objects.filter(end_user_id=user, session_id=session, external_id__in=ids)
    known = set(rows.values_list("external_id", flat=True))
    return [each for each in batch if each.turn.external_id not in known]


def _submission(project_id: UUID, fresh: Sequence[ParsedTurn]) -> Submission:
    return Submission(
        project_id=project_id,
        api_key_id=None,
        user_id=fresh[0].user_id,
        session_id=fresh[0].session_id,
        turns=tuple(each.turn for each in fresh),
    )
