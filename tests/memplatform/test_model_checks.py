"""Deployment checks of models."""

from typing import Any

import pytest

from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.projects.services import configure
from apps.tenants.models import Project
from memplatform import checks
from memplatform.checks import check_models, check_models_of_projects

LOCAL = {"provider": "openai", "model": "m", "base_url": "http://a/v1", "prices": {"input": 0, "output": 0}}
REMOTE = {"provider": "anthropic", "model": "m", "base_url": "http://a"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"MODEL": ""}, {"memplatform.I020"}),
        ({"MODEL": "anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY": "k"}, set()),
        ({"MODEL": "anthropic:claude-haiku-4-5-20251001", "ANTHROPIC_API_KEY": "k"}, set()),
        ({"MODEL": "anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY": ""}, {"memplatform.E021"}),
        ({"MODEL": "anthropic:unheard-of", "ANTHROPIC_API_KEY": "k"}, {"memplatform.W022", "memplatform.W023"}),
        ({"MODEL": "claude-haiku-4-5"}, {"memplatform.E020"}),
        ({"MODEL": "openai:"}, {"memplatform.E020"}),
        ({"MODEL": "openai:x", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}, {"memplatform.E021", "memplatform.W022"}),
        ({"MODEL": "openai:x", "OPENAI_BASE_URL": "http://localhost:1/v1"}, {"memplatform.W022"}),
        ({"MODEL": "", "EMBEDDER": "word2vec"}, {"memplatform.I020", "memplatform.E025"}),
        ({"MODEL": "", "EMBEDDER": "openai:x", "OPENAI_BASE_URL": ""}, {"memplatform.I020", "memplatform.E026"}),
        ({"MODEL": "", "EMBEDDER": "openai:x", "EMBEDDER_BASE_URL": "http://a/v1"}, {"memplatform.I020"}),
        ({"MODEL": "local", "MODELS": {"local": LOCAL}}, set()),
        ({"MODEL": "gone", "MODELS": {"local": LOCAL}}, {"memplatform.E020"}),
        ({"MODEL": "local", "MODELS": {"local": {**LOCAL, "context_window": 4_096}}}, {"memplatform.W030"}),
        ({"MODEL": "local", "MODELS": {"local": {**LOCAL, "context_window": 16_384}}}, set()),
        ({"MODEL": "local", "MODELS": {"local": {"provider": "openai"}}}, {"memplatform.E020", "memplatform.E028"}),
        ({"MODEL": "local", "MODELS": {"local": LOCAL, "other": REMOTE}}, {"memplatform.E029"}),
    ],
)
def test_what_is_reported(settings: Any, given: dict[str, str], told: set[str]) -> None:
    settings.EMBEDDER = "wordllama"
    for name, value in given.items():
        setattr(settings, name, value)
    assert {message.id for message in check_models()} == told


def test_a_prompt_that_is_too_short_for_the_cache(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MODEL, settings.ANTHROPIC_API_KEY = "anthropic:claude-haiku-4-5", "k"
    monkeypatch.setattr(checks, "STATIC", "x" * 9_000)
    (message,) = check_models()
    assert (message.id, "2250" in message.msg) == ("memplatform.W024", True)


@pytest.mark.parametrize(
    ("model", "key", "told"),
    [
        ("", "", []),
        ("anthropic:claude-sonnet-4-5", "k", []),
        ("anthropic:claude-sonnet-4-5", "", ["project test: 'anthropic:claude-sonnet-4-5' needs ANTHROPIC_API_KEY"]),
        ("claude", "k", ["project test: 'claude' names no model: write anthropic:… or openai:…"]),
    ],
)
def test_what_is_reported_about_models_that_projects_name(
    project: Project, settings: Any, model: str, key: str, told: list[str]
) -> None:
    settings.ANTHROPIC_API_KEY = key
    configure(project_id=project.id, policy=Policy(extraction=ExtractionPolicy(model="anthropic:long-gone")))
    configure(project_id=project.id, policy=Policy(extraction=ExtractionPolicy(model=model)))
    assert [message.msg for message in check_models_of_projects(databases=["default"])] == told


def test_projects_are_not_looked_at_without_a_database() -> None:
    assert check_models_of_projects(databases=None) == []
