"""Scores of a search are absolute: they mean the same for every query, and can be thresholded."""

import pytest

from apps.pipeline.core.enums import LinkStatus, Status
from apps.pipeline.core.ports import Embedder
from apps.providers.fake import HashingEmbedder
from apps.providers.wordllama import WordLlamaEmbedder
from apps.retrieval.noise import noise_of
from tests.retrieval.conftest import contradict

BUDGET = "User's budget for the Japan trip is 7500 euros."
TOURS = "User dislikes group tours."
GIBBERISH = ["xqzt blorf wug", "flurbination of the gnarpled snood", "asdfgh"]


@pytest.fixture
def embedder() -> Embedder:
    return WordLlamaEmbedder()


@pytest.fixture
def told(remember) -> None:
    for content in (
        BUDGET,
        TOURS,
        "Ana lives in Oslo.",
        "Ana works as a nurse in the harbour clinic.",
        "Ana is allergic to hazelnuts.",
        "Ana's team runs PostgreSQL 16.",
    ):
        remember(content, subject="Ana", session_id="one")


@pytest.mark.usefixtures("told")
class TestThreshold:
    @pytest.mark.parametrize("query", GIBBERISH)
    @pytest.mark.parametrize("min_score", [0.1, 0.2])
    def test_gibberish_finds_nothing(self, find, query, min_score) -> None:
        assert find(query, min_score=min_score) == []

    @pytest.mark.parametrize(
        ("query", "answer"),
        [
            ("how much money for the trip?", BUDGET),
            ("Where does Ana live?", "Ana lives in Oslo."),
            ("nuts that Ana must not eat", "Ana is allergic to hazelnuts."),
            ("what is her job at the clinic", "Ana works as a nurse in the harbour clinic."),
        ],
    )
    def test_an_answer_passes(self, find, query, answer) -> None:
        assert find(query, min_score=0.2)[0] == answer

    def test_what_only_the_session_and_the_name_support_has_a_score_of_its_own(self, search_hits) -> None:
        hits = {hit.memory.content: hit for hit in search_hits("how much money for the trip?")}
        assert hits[BUDGET].score > 0.3
        assert TOURS not in hits or hits[TOURS].score < 0.6 * hits[BUDGET].score

    def test_the_same_words_score_alike_whatever_else_is_known(self, search_hits, remember) -> None:
        before = search_hits("allergic to hazelnuts")[0].score
        for number in range(20):
            remember(f"User counted {number} boats.", indexed=False)
        assert search_hits("allergic to hazelnuts")[0].score == pytest.approx(before, abs=0.1)

    def test_a_blank_query_has_no_threshold(self, find) -> None:
        assert len(find(" ", min_score=0.9)) == 6


def test_a_contested_memory_names_what_contradicts_it(search_hits, remember) -> None:
    nuts, no_nuts = remember("Ana eats hazelnuts."), remember("Ana is allergic to hazelnuts.")
    contradict(nuts, no_nuts)
    found = {hit.memory.id: hit.contradicted_by for hit in search_hits("hazelnuts")}
    assert found == {nuts.id: (no_nuts.id,), no_nuts.id: (nuts.id,)}


@pytest.mark.parametrize(
    ("link", "other"),
    [({"status": LinkStatus.SETTLED}, {}), ({}, {"status": Status.RETRACTED})],
    ids=["settled", "the other is gone"],
)
def test_a_settled_contradiction_is_none(search_hits, remember, link, other) -> None:
    nuts, no_nuts = remember("Ana eats hazelnuts."), remember("Ana is allergic to hazelnuts.", **other)
    contradict(nuts, no_nuts, **link)
    assert all(hit.contradicted_by == () for hit in search_hits("hazelnuts"))


def test_the_noise_of_an_embedder_is_measured_once() -> None:
    class Counting(HashingEmbedder):
        calls = 0

        def embed(self, texts):
            self.calls += 1
            return super().embed(texts)

    counting = Counting(name="counting", dimension=128)
    assert noise_of(counting) is noise_of(counting)
    assert counting.calls == 1


UNRELATED = {
    "Ana lives in Oslo.": [
        "How do I compile a kernel?",
        "Who won the league in 1998?",
        "What is the boiling point of mercury?",
    ],
    "היא גרה בחיפה.": ["מהי בירת מונגוליה?", "מי זכה באליפות?", "איך מתקנים אופניים?"],
    "تسكن في عمّان.": ["ما هي عاصمة منغوليا؟", "كيف أصلح الدراجة؟", "كم سعر التذكرة إلى روما؟"],
    "او در شیراز زندگی می‌کند.": ["پایتخت مغولستان کجاست؟", "چه کسی قهرمان شد؟", "کتابخانه کی باز می‌شود؟"],
    "เธออาศัยอยู่ที่เชียงใหม่": ["ใครชนะการแข่งขัน", "ซ่อมจักรยานอย่างไร", "ตั๋วไปโรมราคาเท่าไร"],
    "Μένει στη Θεσσαλονίκη.": [
        "Ποιος κέρδισε το πρωτάθλημα;",
        "Πώς φτιάχνεται ένα ποδήλατο;",
        "Πότε ανοίγει η βιβλιοθήκη;",
    ],
    "Она живёт в Казани.": ["Какая столица Монголии?", "Кто выиграл чемпионат?", "Как починить велосипед?"],
    "她住在成都。": ["谁赢得了冠军？", "怎么修自行车？", "图书馆几点开门？"],
}


@pytest.mark.parametrize("content", UNRELATED)
def test_unrelated_queries_find_nothing_in_any_script(search_hits, remember, content) -> None:
    remember(content)
    for query in UNRELATED[content]:
        assert search_hits(query, min_score=None) == ()


@pytest.mark.parametrize(
    ("query", "other_sense"),
    [
        ("Where does Ana work?", "Ana works out at six every morning."),
        ("Which plan does Ana have?", "Ana plans to migrate the blog."),
        ("When can I call Ana?", "Ana wants to be called Marty."),
    ],
)
def test_words_in_another_sense_are_no_full_match(search_hits, remember, query, other_sense) -> None:
    remember(other_sense)
    assert all(hit.score < 0.7 for hit in search_hits(query))
