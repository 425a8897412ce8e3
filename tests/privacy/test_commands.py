"""Commands that export and erase an end user, and export the ledger."""

import json
from io import StringIO
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command

from apps.memories.models import LedgerEntry, Memory
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ana(project: Project) -> None:
    said = NewMemory(type=MemoryType.FACT, content="Ana is tall.")
    store(request=StoreRequest(project_id=project.id, api_key_id=None, user_id="ana", memories=(said,)))


def run(*words: str) -> str:
    said = StringIO()
    call_command(*words, stdout=said)
    return said.getvalue()


def test_a_user_is_exported() -> None:
    lines = [json.loads(line) for line in run("export_user", "test", "ana").splitlines()]
    assert [line["content"] for line in lines if line["kind"] == "memories"] == ["Ana is tall."]


def test_a_user_is_erased() -> None:
    said = run("erase_user", "test", "ana", "--yes")
    assert "1 memories" in said
    assert "receipt era_" in said
    assert not Memory.objects.exists()


@pytest.mark.parametrize("answer", ["no", EOFError])  # the latter where there is no terminal
def test_nothing_is_erased_without_a_yes(answer: str | type[EOFError]) -> None:
    with patch("builtins.input", side_effect=[answer]), pytest.raises(CommandError, match="nothing was erased"):
        run("erase_user", "test", "ana")
    assert Memory.objects.exists()


@pytest.mark.parametrize("words", [("export_user", "test", "eva"), ("erase_user", "test", "eva", "--yes")])
def test_unknown_users_are_named(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="no such end user"):
        run(*words)


def test_the_ledger_is_exported() -> None:
    lines = [json.loads(line) for line in run("export_ledger", "test").splitlines()]
    assert [line["verb"] for line in lines][:2] == ["project_created", "configured"]
    assert len(lines) == LedgerEntry.objects.count()
