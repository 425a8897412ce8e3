"""The recall page: the order of the search, a reason for all else, the lines of the block; nothing is written."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from apps.common.errors import ProviderError
from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.memories.services.count_accesses import ACCESSES
from apps.pipeline.core.enums import Stakes
from apps.pipeline.core.identifiers import Prefix, show
from apps.projects.services import save_draft
from apps.retrieval import services
from apps.tenants.models import EndUser, Project
from tests.api.counting import rows_by_table
from tests.api.storing import put
from tests.console.members import text_of
from tests.retrieval.conftest import add_vectors
from tests.soak import few

pytestmark = pytest.mark.django_db
WORDS = ("Where", "does", "Ana", "live", "green", "tea", "peanuts", "my", "sister", "Nora", "bicycle", "zzz")
SAID = (
    "Ana lives in Lisbon.",
    "Ana drinks green tea every morning.",
    "Nora is the sister of Ana.",
    "Nora lives in Ghent.",
    "Ana repaired her bicycle.",
    "Ana likes jazz.",
)


@pytest.fixture
def ana(client: APIClient, project: Project) -> APIClient:
    """An agent that has stored memories of a user; they have vectors."""
    put(client, *({"type": "fact", "content": each} for each in SAID))
    put(client, {"type": "fact", "content": "Ana may be a pilot.", "speech_act": "hypothetical"})
    add_vectors(list(Memory.objects.select_related("subject")), live().embedder)
    return client


def shown(viewer: Client, status: int = 200, **query: Any) -> Any:
    answer = viewer.get(f"/console/test/recall/?{urlencode({'user': 'ana'} | query)}")
    assert answer.status_code == status, answer.content
    return answer.context


@settings(max_examples=few())
@given(
    words=st.lists(st.sampled_from(WORDS), max_size=6),
    limit=st.integers(1, 10),
    stakes=st.sampled_from(Stakes),
    min_score=st.sampled_from((0, 0.1, 0.3)),
)
def test_order_and_scores_are_those_that_agents_get(
    ana: APIClient, admin: Client, words: list[str], limit: int, stakes: Stakes, min_score: float
) -> None:
    asked = {"limit": limit, "stakes": stakes.value, "min_score": min_score}
    body = {"user_id": "ana", "query": " ".join(words), "explain": True, **asked}
    results = ana.post("/v1/memories/search", body).json()["results"]

    rows = [row for row in shown(admin, q=" ".join(words), **asked)["rows"] if row.place]
    assert [show(Prefix.MEMORY, row.hit.memory.pk) for row in rows] == [each["id"] for each in results]
    assert [row.hit.score for row in rows] == pytest.approx([each["score"] for each in results], abs=1e-4)
    assert [row.hit.score for row in rows] == sorted((row.hit.score for row in rows), reverse=True)


def test_the_block_is_the_one_that_agents_get(ana: APIClient, admin: Client) -> None:
    for budget in (60, 120, 800):
        block = ana.post("/v1/context", {"user_id": "ana", "query": "tea", "token_budget": budget}).json()
        context = shown(admin, q="tea", budget=budget)
        found = context["recall"].block
        assert found.text == block["context"]
        assert all(line.text in block["context"] for line in found.lines)
        assert sum(len(line.memories) for line in found.left_out) == block["omitted"]
    assert not found.left_out


def test_it_says_what_was_left_out_and_why(ana: APIClient, admin: Client) -> None:
    page = admin.get("/console/test/recall/?user=ana&q=green+tea&limit=1&budget=60&min_score=0").content.decode()
    for text in ("Ana drinks green tea", "others are better", "Not scored", "Ana may be a pilot", "not shown at these"):
        assert text in page
    assert "Left out because of the budget" in page
    assert "A block always tells of the present" in text_of(admin, "recall/?user=ana&as_of=2020-01-01T12:00")
    assert shown(admin, as_of="2020-01-01T12:00")["rows"] == []


def test_two_versions_are_compared(ana: APIClient, admin: Client, project: Project) -> None:
    assert not any(row.differs for row in shown(admin, q="tea", against=1)["rows"])

    save_draft(project_id=project.pk, base=1, changes={("retrieval", "least_confidence", "normal"): 0.99})
    context = shown(admin, q="tea", against=2)
    assert all(row.differs and row.against.startswith("less confident") for row in context["rows"] if row.place)
    assert not any(line in context["common"] for line in context["recall"].block.lines)
    assert shown(admin, q="tea", version=2)["result_count"] == 0
    assert shown(admin, q="tea", version=2, against=1)["only_against"]


def test_nothing_is_written(ana: APIClient, admin: Client, settings: LazySettings) -> None:
    settings.ACCESS_FLUSH_SECONDS = 60
    before, waiting = rows_by_table(), dict(ACCESSES.waiting)
    with CaptureQueriesContext(connection) as caught:
        shown(admin, q="tea", against=1)
    written = [each["sql"] for each in caught if each["sql"].split()[0].lower() in ("insert", "update", "delete")]
    assert (written, rows_by_table(), ACCESSES.waiting) == ([], before, waiting)


NONSENSE = [
    {"user": "nobody"},
    {"user": ""},
    {"stakes": "none"},
    {"budget": -1},
    {"limit": 0},
    {"min_score": 2},
    {"min_score": "nan"},
    {"as_of": "yesterday"},
    {"as_of": "0001-01-01T00:00"},
    {"version": 99},
    {"against": "x"},
]


def test_nonsense_is_refused(ana: APIClient, admin: Client, subtests: pytest.Subtests) -> None:
    for query in NONSENSE:
        with subtests.test(query=query):
            context = shown(admin, 422, **query)
            assert "recall" not in context
            assert context["form"].errors


def test_the_form_opens_for_viewers(viewer: Client, full_project: Project) -> None:
    assert "Whose memories?" in text_of(viewer, "recall/")
    user = EndUser.objects.get(project=full_project)
    page = text_of(viewer, f"recall/?{urlencode({'user': user.external_id, 'q': 'tea'})}")
    assert "green tea" in page
    assert "<script>alert(1)" not in page


def test_a_silent_embedder_is_told(ana: APIClient, admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise ProviderError("secret address")

    monkeypatch.setattr(services, "ranked", fail)
    assert shown(admin, 422)["form"].non_field_errors() == ["The embedder does not answer. Try again later."]
