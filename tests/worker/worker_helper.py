"""End users with turns, and ports whose parts fail on purpose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from apps.intake.accept import Accepted, Submission, accept
from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.pipeline.core.enums import Role, Status
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.ports import Embedder, Ports, Vector
from apps.pipeline.core.turn import NewTurn
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.worker.process_user import process_user
from apps.worker.shutdown import StopFlag
from apps.worker.work import Worker
from tests.outbox.outbox_factories import claim, make_due

PATIENCE = 120.0  # seconds


@dataclass(frozen=True, slots=True)
class Person:
    """One end user of a project."""

    project: Project
    name: str = "ana"

    @property
    def id(self) -> UUID:
        return end_user_id(project_id=self.project.id, user_id=self.name)

    def says(self, *contents: str, session: str = "monday") -> Accepted:
        turns = tuple(NewTurn(role=Role.USER, content=content) for content in contents)
        submission = Submission(self.project.id, None, self.name, session, turns, is_awaited=True)
        return accept(submission=submission)

    def is_worked_for(self, ports: Ports | None = None) -> int:
        """Do the due work, unless another worker has the lease; return how many rows were done."""
        return sum(process_user(lease=lease, ports=ports or live()) for lease in claim(only=self.id))

    def is_given_up(self) -> None:
        """Do what is due twice: a run whose answer can't be read has a second one."""
        self.is_worked_for()
        make_due(self.id)
        self.is_worked_for()

    def statuses(self) -> list[str]:
        """Return the statuses of the person's traces in the order in which they were accepted."""
        return list(Trace.objects.filter(end_user_id=self.id).order_by("created_at").values_list("status", flat=True))

    def memories(self) -> list[str]:
        """Return the active memories, oldest first."""
        rows = Memory.objects.filter(end_user_id=self.id, status=Status.ACTIVE)
        return list(rows.order_by("id").values_list("content", flat=True))


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An embedder that does something before each call."""

    within: Embedder
    before: Callable[[Sequence[str]], None]

    @property
    def name(self) -> str:
        return self.within.name

    @property
    def dimension(self) -> int:
        return self.within.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.before(texts)
        return self.within.embed(texts)


def interrupted(before: Callable[[Sequence[str]], None]) -> Ports:
    """Return the live ports with something done before each embedding."""
    ports = live()
    return replace(ports, embedder=Interrupted(within=ports.embedder, before=before))


class Broken(Exception):
    """What a test breaks."""


def broken(word: str) -> Ports:
    """Return the live ports with an embedder that fails for texts with a word."""

    def refuse(texts: Sequence[str]) -> None:
        if any(word in text for text in texts):
            raise Broken(f"no {word}")

    return interrupted(refuse)


def make_worker(ports: Ports, *, stop: StopFlag | None = None, threads: int = 4, idle: float = 0.0) -> Worker:
    return Worker(ports=ports, threads=threads, stop=stop or StopFlag(), idle_seconds=idle, seconds=PATIENCE)
