"""Search and context as API and console call them: by the caller's user id, with the project's policy."""

import pytest

from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType, Stakes
from apps.pipeline.core.policy import Policy, RetrievalPolicy
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.projects.services import configure
from apps.retrieval.query import SearchQuery
from apps.retrieval.services import build_context, search_memories
from apps.tenants.models import Project


@pytest.fixture
def rome(project: Project) -> None:
    new = NewMemory(type=MemoryType.FACT, content="Ana lives in Rome.", confidence=0.6)
    store(request=StoreRequest(project_id=project.id, api_key_id=None, user_id="ana", memories=(new,)))


def found(project: Project, *, user_id: str = "ana", text: str = "Rome") -> list[str]:
    result = search_memories(project_id=project.id, user_id=user_id, query=SearchQuery(text=text))
    return [hit.memory.content for hit in result.hits]


@pytest.mark.usefixtures("rome")
def test_a_caller_finds_its_users_memories(project) -> None:
    assert found(project) == ["Ana lives in Rome."]


@pytest.mark.usefixtures("rome")
def test_nothing_crosses_users_or_projects(project, other_project) -> None:
    assert found(project, user_id="ben") == []
    assert found(other_project) == []


@pytest.mark.usefixtures("rome")
def test_the_projects_policy_decides(project) -> None:
    strict = RetrievalPolicy(least_confidence={Stakes.HIGH: 0.9, Stakes.NORMAL: 0.7, Stakes.LOW: 0.5})
    configure(project_id=project.id, policy=Policy(retrieval=strict))
    assert found(project) == []


@pytest.mark.usefixtures("rome")
def test_a_context_block_is_built_for_the_callers_user(project) -> None:
    query = SearchQuery(text="home")
    result = build_context(project_id=project.id, user_id="ana", query=query, token_budget=500)
    silent = build_context(project_id=project.id, user_id="ben", query=query, token_budget=500)
    assert "Ana lives in Rome." not in silent.text
    assert silent.text == ""
    assert result.tokens <= 500


@pytest.mark.usefixtures("rome")
def test_a_context_block_without_a_query_has_the_most_important_memories(project) -> None:
    query = SearchQuery()
    result = build_context(project_id=project.id, user_id="ana", query=query, token_budget=500)
    assert "- Ana lives in Rome." in result.text
