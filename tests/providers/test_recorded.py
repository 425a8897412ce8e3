"""The provider of recorded answers reads no other files than its own."""

from pathlib import Path
from typing import Any

import pytest

from apps.pipeline.core.model_calls import ModelFailed
from apps.pipeline.prompts import index_questions
from apps.providers import registry
from apps.providers.entries import problem_with


@pytest.fixture(autouse=True)
def recorded(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "memplatform/samples").mkdir(parents=True)
    (tmp_path / "memplatform/samples" / "talk_answers.jsonl").write_text("")
    settings.BASE_DIR = tmp_path
    registry.forget_models()


@pytest.mark.parametrize("name", ["talks", "../talk", "talk_answers.jsonl"])
def test_other_names_are_refused(name: str) -> None:
    spec = f"recorded:{name}"
    assert "there is talk" in problem_with(spec)
    with pytest.raises(ModelFailed, match="has no model") as raised:
        registry.PricedModels().complete(index_questions.render(statements=[], model=spec))
    assert raised.value.permanent
