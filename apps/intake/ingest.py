"""Import a file of conversations through the same intake as the REST interface; known turns are skipped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from apps.actions.errors import Refused
from apps.intake.accept import Submission, accept
from apps.intake.formats.parsed_turn import BadLine, ParsedTurn
from apps.pipeline.core.identifiers import end_user_id, session_id
from apps.tenants.scope import tenant_scope
from apps.traces.models import Turn

TURNS_PER_REQUEST = 50


class BadFile(Refused):
    """The file has invalid places; none of it was imported."""

    def __init__(self, places: Sequence[BadLine]) -> None:
        super().__init__(f"{len(places)} bad {'place' if len(places) == 1 else 'places'}")
        self.places = tuple(places)


@dataclass(frozen=True, slots=True)
class Ingested:
    """How many turns were imported, in how many requests, and how many were known already."""

    turns: int
    requests: int
    known: int
    end_users: frozenset[UUID]


def all_valid(places: Iterable[ParsedTurn | BadLine]) -> tuple[ParsedTurn, ...]:
    """Return the turns of a file. Raises BadFile if any place is invalid or repeats a turn_id of its session."""
    turns: list[ParsedTurn] = []
    bad: list[BadLine] = []
    seen: set[tuple[str, str, str]] = set()
    for each in places:
        if isinstance(each, BadLine):
            bad.append(each)
            continue
        key = (each.user_id, each.session_id, each.turn.external_id)
        if key in seen:
            bad.append(BadLine(at=each.at, message=f"turn_id {each.turn.external_id!r} names two turns of the session"))
        seen.add(key)
        turns.append(each)
    if bad:
        raise BadFile(bad)
    return tuple(turns)


def ingest(
    *, project_id: UUID, turns: Sequence[ParsedTurn], progress: Callable[[int], None] = lambda _: None
) -> Ingested:
    """Accept turns session by session, in atomic requests of up to 50 turns.

    Turns that are stored already, by their turn_id within the session, are skipped, so an interrupted run can be
    repeated. `progress` is called after each request with the number of turns processed so far.
    """
    imported = requests = known = 0
    users: set[UUID] = set()
    for batch in _batches(turns):
        user = end_user_id(project_id=project_id, user_id=batch[0].user_id)
        session = session_id(end_user_id=user, session_id=batch[0].session_id)
        stored = Turn.objects.filter(
            end_user_id=user, session_id=session, external_id__in=[each.turn.external_id for each in batch]
        )
        with tenant_scope(project_id=project_id, end_user_id=user):
            known_ids = set(stored.values_list("external_id", flat=True))
        new = [each for each in batch if each.turn.external_id not in known_ids]
        if new:
            turns_of_batch = tuple(each.turn for each in new)
            accept(submission=Submission(project_id, None, batch[0].user_id, batch[0].session_id, turns_of_batch))
        users.add(user)
        imported, known, requests = imported + len(new), known + len(batch) - len(new), requests + bool(new)
        progress(imported + known)
    return Ingested(turns=imported, requests=requests, known=known, end_users=frozenset(users))


def _batches(turns: Sequence[ParsedTurn]) -> Iterator[list[ParsedTurn]]:
    """Yield batches of turns of one session, sessions in the order in which they first appear."""
    sessions: dict[tuple[str, str], list[ParsedTurn]] = {}
    for each in turns:
        sessions.setdefault((each.user_id, each.session_id), []).append(each)
    for session_turns in sessions.values():
        rest = iter(session_turns)
        while batch := list(islice(rest, TURNS_PER_REQUEST)):
            yield batch
