"""Memories get the vectors of a new embedder, and an interrupted run can be continued."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.memories.models import MemoryVector
from apps.memories.services import indexing as reembedding
from apps.memories.services.indexing import missing, reembed
from apps.providers.fake import HashingEmbedder
from apps.tenants.models import Project
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db
OTHER = HashingEmbedder(name="other")


@pytest.fixture
def remembered(project: Project) -> int:
    """Memories of two people, embedded with the configured embedder."""
    for name in ("ana", "bob"):
        person = Person(project, name)
        person.says("I live in Lisbon. I work as a nurse. I like tea.")
        person.is_worked_for()
    return MemoryVector.objects.count()


def test_all_of_them(remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 2)
    before = MemoryVector.objects.count()
    assert missing(embedder=OTHER).count() == remembered == 6
    assert list(reembed(embedder=OTHER)) == [2, 2, 2]
    assert not missing(embedder=OTHER).exists()
    assert MemoryVector.objects.filter(embedder="other").count() == before
    assert list(reembed(embedder=OTHER)) == []


def test_an_interrupted_run_goes_on(remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 4)
    next(reembed(embedder=OTHER))
    assert missing(embedder=OTHER).count() == remembered - 4
    assert list(reembed(embedder=OTHER)) == [2]


def test_the_command(remembered: int, settings) -> None:
    settings.EMBEDDER = "hashing"
    told = StringIO()
    call_command("reembed", "--forget-others", stdout=told, stderr=StringIO())
    assert "6 memories embedded with hashing" in told.getvalue()
    assert set(MemoryVector.objects.values_list("embedder", flat=True)) == {"hashing"}


def test_an_unknown_embedder_is_reported(settings) -> None:
    settings.EMBEDDER = "word2vec"
    with pytest.raises(CommandError, match="word2vec"):
        call_command("reembed")
