"""The steps of the hot path: intake, claim and drain, search, context block."""

from collections.abc import Callable, Iterator
from uuid import UUID

from apps.actions.keys.create_key import create_key
from apps.actions.live_ports import live
from apps.actions.memories.build_context import ContextRequest, build_context
from apps.actions.memories.search_memories import SearchRequest, search_memories
from apps.actions.projects.create_project import create_project
from apps.intake import session_cache
from apps.intake.accept import Submission, accept
from apps.intake.backpressure import check_queue_limit
from apps.intake.project_watch import ProjectWatch
from apps.intake.quotas import check_quotas
from apps.outbox import leases
from apps.pipeline.core.enums import Role, Scope
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.turn import NewTurn
from apps.retrieval.context import ContextQuery
from apps.retrieval.query import SearchQuery
from apps.tenants.models import Project
from apps.tenants.scope import no_tenant, tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.worker.process_user import process_user


def steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each step and the step; each builds on those before."""
    project = create_project(name="Distributed", slug=f"distributed-{new_id()}")
    with tenant_scope(project_id=project.id):
        Project.objects.filter(id=project.id).update(max_memories=1_000, max_model_usd_per_day=10)
        key = create_key(project_id=project.id, name="agent", scopes=[Scope.READ, Scope.WRITE])

        _count_limits_once(project.id)

    def say(*contents: str, session: str = "monday") -> None:
        turns = tuple(NewTurn(role=Role.USER, content=content) for content in contents)
        with no_tenant():
            accept(submission=Submission(project.id, key.key.id, "ana", session, turns))

    def drain() -> None:
        done = 0
        while claimed := _claimed():
            for lease in claimed:
                with tenant_scope(project_id=lease.project_id, end_user_id=lease.end_user_id):
                    done += process_user(lease=lease, ports=live())
        assert done, "nothing was done"

    def search() -> None:
        with no_tenant():
            found = search_memories(request=SearchRequest(project.id, "ana", SearchQuery("Where does she live?")))
        assert found.hits, "nothing was found"

    def context() -> None:
        with no_tenant():
            built = build_context(request=ContextRequest(project.id, "ana", ContextQuery(800, "Where does she live?")))
        assert built.block.text, "the block is empty"

    yield "accept turns of a new user", lambda: say("I live in Lisbon.", "My sister is called Marta.")
    yield "accept turns of a known session", lambda: say("I work as a nurse.")
    session_cache.forget()
    yield "accept turns of a session of another process", lambda: say("thanks a lot!", "My sister lives in Faro.")
    yield "claim and drain", drain
    yield "search", search
    yield "build a context block", context
    yield "accept what supersedes", lambda: say("I moved to Porto last week.", "I no longer work as a nurse.")
    yield "claim and drain again", drain
    yield "search again", search


def _count_limits_once(project_id: UUID) -> None:
    """Count as the first request of a project does, and let no thread forget it while a step is slow."""
    ProjectWatch._count_on = lambda watch: None  # type: ignore[method-assign]
    check_queue_limit(project_id=project_id)
    check_quotas(project_id=project_id)


def _claimed() -> list[leases.Lease]:
    with system_scope(SystemWork.QUEUE):
        return leases.claim(limit=8, seconds=60)
