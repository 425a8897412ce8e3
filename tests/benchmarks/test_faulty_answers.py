"""Faults are put into the answers of a model as the benchmark says."""

from apps.providers.shown_ids import ENTITY, MEMORY, ShownIds
from benchmarks.truth.faulty_answers import AnswerFault, faulty

SHOWN = ShownIds({"m1": f"{MEMORY}User lives in Lyon.", "e1": f"{ENTITY}Lena"}, ("I have a cat",))
ANSWER = {"memories": [{"content": "User has a cat.", "evidence": "im sure i have a cat & a dog ... dont ask"}]}


def test_quotes_are_written_as_in_print() -> None:
    (memory,) = faulty(ANSWER, fault=AnswerFault.TIDIED_QUOTES, shown=SHOWN)["memories"]
    assert memory["evidence"] == "I’m sure I have a cat and a dog … don’t ask"


def test_one_id_is_that_of_another_memory_or_entity() -> None:
    (memory,) = faulty(ANSWER, fault=AnswerFault.WRONG_IDS, shown=SHOWN)["memories"]
    assert [memory.get("same_as"), memory.get("replaces"), memory.get("object")].count(None) == 2
    assert "m1" in str(memory) or "e1" in str(memory)
    assert ANSWER["memories"][0].keys() == {"content", "evidence"}


def test_where_nothing_else_is_shown_the_answer_stays() -> None:
    assert faulty(ANSWER, fault=AnswerFault.WRONG_IDS, shown=ShownIds({}, ())) == ANSWER
