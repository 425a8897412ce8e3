"""Every embedder keeps the same promises, the fake one included."""

import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from apps.common.errors import ProviderError
from apps.pipeline.core.model_calls import FailureKind
from apps.pipeline.core.ports import Embedder
from apps.providers.errors import ProviderUnavailable, UnknownProvider
from apps.providers.openai_compatible import OpenAICompatibleEmbedder
from apps.providers.registry import embedder
from apps.providers.sentence_transformers import SentenceTransformersEmbedder
from benchmarks.model_server import ModelServer

NAMES = ("wordllama", "hashing")


@pytest.fixture(params=NAMES)
def each(request: pytest.FixtureRequest) -> Embedder:
    return embedder(request.param)


def cosine(one, other) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_vectors_are_of_the_dimension_and_have_unit_length(each: Embedder) -> None:
    texts = ["User lives in Rome.", "🎉🎉", "東京に住んでいます", "x" * 100_000]
    vectors = each.embed(texts)
    assert [len(vector) for vector in vectors] == [each.dimension] * len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        length = math.sqrt(cosine(vector, vector))
        assert length == pytest.approx(1.0, abs=1e-5) or (not any(c.isalnum() for c in text) and length == 0.0)


def test_a_text_without_words_gives_the_zero_vector(each: Embedder) -> None:
    assert each.embed([""]) == [[0.0] * each.dimension]


def test_no_texts_give_no_vectors(each: Embedder) -> None:
    assert each.embed([]) == []


def test_a_vector_depends_on_nothing_but_its_text(each: Embedder) -> None:
    alone = each.embed(["User has a dog."])[0]
    among = each.embed(["Something much longer that pads the batch out considerably.", "User has a dog."])[1]
    assert alone == pytest.approx(among, abs=1e-6)


def test_related_texts_are_nearer_than_unrelated_ones(each: Embedder) -> None:
    home, asked, other = each.embed(["Anna lives in Rome.", "In which city lives Anna?", "The oven is broken."])
    assert cosine(home, asked) > cosine(other, asked)


def test_the_configured_embedder_is_the_default(settings) -> None:
    settings.EMBEDDER = "hashing"
    assert embedder().name == "hashing"
    assert embedder() is embedder("hashing")


class StandIn:
    """What is asked of sentence-transformers, by a former or by its present names."""

    def __init__(self, place: str) -> None:
        self.place = place

    def encode(self, texts: list[str], *, normalize_embeddings: bool) -> Any:
        assert normalize_embeddings
        return np.array([[1.0, 0.0] for _ in texts])


class Former(StandIn):
    def get_sentence_embedding_dimension(self) -> int:
        return 2


class Present(StandIn):
    def get_embedding_dimension(self) -> int:
        return 2


@pytest.mark.parametrize("model", [Former, Present])
def test_a_model_of_sentence_transformers_is_taken_from_a_folder(
    model: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=model))
    taken = SentenceTransformersEmbedder(name=str(tmp_path))
    assert (taken.name, taken.dimension) == (f"sentence-transformers:{tmp_path}", 2)
    assert taken.embed(["Ana lives in Rome."]) == [[1.0, 0.0]]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailable, match=r"not there: .*/gone"):
        SentenceTransformersEmbedder(name=f"{tmp_path}/gone")


def test_a_missing_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ProviderUnavailable, match="pip install sentence-transformers"):
        SentenceTransformersEmbedder(name="all-MiniLM-L6-v2")


def test_an_unknown_name_is_reported_with_the_known_ones() -> None:
    with pytest.raises(UnknownProvider, match="hashing, openai, sentence-transformers, wordllama") as raised:
        embedder("word2vec")
    assert raised.value.permanent
    assert isinstance(raised.value, ProviderError)


def test_an_embedder_at_a_wrong_address_is_unavailable(model_server: ModelServer) -> None:
    embedder = OpenAICompatibleEmbedder(
        name="small", dimension=3, api_key="x", base_url=f"{model_server.url}/v1", timeout=5.0
    )
    with pytest.raises(ProviderError) as failed:
        embedder.embed(["a"])
    assert failed.value.kind is FailureKind.UNAVAILABLE
