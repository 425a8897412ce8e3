"""Latency of search, context blocks and pages of the console in a filled database."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.memories.models import Memory
from apps.pipeline.core.policy import RetrievalPolicy
from apps.providers.registry import embedder as configured_embedder
from apps.retrieval.context import build_block
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import Ranking, ranked
from apps.tenants.models import Project
from apps.tenants.scope import no_tenant, tenant_scope
from benchmarks.figures import milliseconds, quantile
from benchmarks.scale.filling import Filled

BUDGET = 800  # tokens of a context block
WARM_UP = 20
PAGES = ("dashboard", "memories", "traces", "review")
TIMES = 5  # that a page is asked for
_QUESTIONS = (
    "where does she live now?",
    "what should I cook for dinner?",
    "when is the next appointment?",
    "which medicine do I take?",
    "what does my sister do for work?",
    "any plans for the weekend?",
    "how many people are coming?",
    "what are the allergies?",
)


def read(filled: Filled, *, searches: int) -> dict[str, object]:
    """Return the latencies in milliseconds."""
    chance = random.Random(3)
    some = chance.sample(filled.users, min(searches, len(filled.users)))
    reader = Reader(filled.project)
    reader.timed(reader.search, some[:WARM_UP])
    drawn = reader.timed(reader.search, chance.choices(filled.users, k=searches))
    context = reader.timed(reader.context, chance.choices(filled.users, k=searches))
    large = [filled.large] * max(searches // 20, 10)
    reader.timed(reader.search, large[:3])
    return {
        **_named("search", drawn),
        **_named("context", context),
        **_named("large_search", reader.timed(reader.search, large)),
        **_named("large_context", reader.timed(reader.context, large)),
        **_pages(filled.project),
    }


class Reader:
    """An agent that asks about one end user after the other."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._embedder = configured_embedder()
        self._policy = RetrievalPolicy()
        self._questions = _questions()

    def timed(self, ask: Callable[[UUID, str], object], users: Sequence[UUID]) -> dict[str, float]:
        """Return percentiles of the time of an answer, and the mean CPU time of this process and of the database."""
        times = []
        begun, begun_there = process_time(), _database_seconds()
        for user in users:
            question = next(self._questions)
            started = perf_counter()
            with tenant_scope(project_id=self._project.id, end_user_id=user):
                ask(user, question)
            times.append(perf_counter() - started)
        computed, computed_there = process_time() - begun, _database_seconds() - begun_there
        return {
            **milliseconds(times),
            "cpu_ms": round(computed / len(users) * 1_000, 2),
            "database_cpu_ms": round(computed_there / len(users) * 1_000, 2),
        }

    def search(self, user: UUID, question: str) -> object:
        """Search with a question."""
        with self._ranked(user, question) as ranking:
            return ranking.results()

    def context(self, user: UUID, question: str) -> object:
        """Ask for a context block."""
        with self._ranked(user, question) as ranking:
            return build_block(ranking, token_budget=BUDGET)

    def _ranked(self, user: UUID, question: str) -> AbstractContextManager[Ranking]:
        return ranked(
            end_user_id=user,
            query=SearchQuery(text=question),
            embedder=self._embedder,
            policy=self._policy,
            now=timezone.now(),
        )


def _database_seconds() -> float:
    """Return the CPU time of the server's process of this connection; 0 where it runs on another machine."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        (process,) = cursor.fetchone()
    statistics = Path(f"/proc/{process}/schedstat")
    return int(statistics.read_text().split()[0]) / 1e9 if statistics.exists() else 0.0


def _questions() -> Iterator[str]:
    """Alternate questions and the first words of what is stored."""
    said = list(Memory.objects.order_by("id").values_list("content", flat=True)[:200])
    chance = random.Random(9)
    while True:
        yield chance.choice(_QUESTIONS)
        yield " ".join(chance.choice(said).split()[:6])


def _pages(project: Project) -> dict[str, Any]:
    """Return the median time of each page."""
    client = Client()
    client.force_login(User.objects.create_superuser("bench"))
    with no_tenant():
        return {f"{page}_ms": _page(client, f"/console/{project.slug}/{page}/") for page in PAGES}


def _page(client: Client, address: str) -> float:
    times = []
    for _ in range(TIMES):
        started = perf_counter()
        answer = client.get(address, HTTP_HOST="localhost")
        times.append(perf_counter() - started)
        if answer.status_code != 200:
            raise RuntimeError(f"{address} answered {answer.status_code}")
    return round(quantile(times, 0.5) * 1_000, 1)


def _named(name: str, figures: dict[str, float]) -> dict[str, float]:
    return {f"{name}_{figure}": value for figure, value in figures.items()}
