"""Template questions of memories: up to three, different, and in words that people ask with."""

import pytest

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.indexing.index import questions_for


@pytest.mark.parametrize(
    ("type_", "subject", "predicate", "object_text", "asked"),
    [
        (MemoryType.FACT, "User", "lives_in", "Rome", "Where does User live?"),
        (MemoryType.FACT, "User", "works_as", "a nurse", "What is User's job?"),
        (MemoryType.FACT, "Lars", "age", "40", "How old is Lars?"),
        (MemoryType.FACT, "Lars", "birthday", "3 May", "When is Lars' birthday?"),
        (MemoryType.PREFERENCE, "User", "dislikes", "olives", "What does User hate?"),
        (MemoryType.PREFERENCE, "User", "favourite_colour", "blue", "What does User think of blue?"),
        (MemoryType.FACT, "User", "phone_number", "555", "What is User's phone number?"),
        (MemoryType.RELATION, "User", "has_manager", "Priya", "Who is User's manager?"),
        (MemoryType.RELATION, "User", "has_manager", "Priya", "How is User related to Priya?"),
        (MemoryType.EVENT, "User", "ran", "a marathon", "What happened with User and a marathon?"),
        (MemoryType.ENTITY, "", "", "Rex", "Who or what is Rex?"),
        (MemoryType.FACT, "", "speaks", "", "Does the user speak one?"),
    ],
)
def test_questions_use_the_words_of_the_predicate_or_type(type_, subject, predicate, object_text, asked) -> None:
    questions = questions_for(
        type=type_, subject=subject, predicate=predicate, object_text=object_text, content=f"{subject}: {object_text}."
    )
    assert asked in questions


@pytest.mark.parametrize("type_", list(MemoryType))
@pytest.mark.parametrize("predicate", ["lives_in", "owns", "unheard_of", ""])
@pytest.mark.parametrize("object_text", ["{braces} and 100 %", ""])
@pytest.mark.parametrize("content", ["User: {subject} said so.", ""])
def test_every_memory_has_three_different_questions(type_, predicate, object_text, content) -> None:
    questions = questions_for(type=type_, subject="User", predicate=predicate, object_text=object_text, content=content)
    assert len(set(questions)) == 3
    assert all(question.endswith(("?", ".")) and "None" not in question for question in questions)


def test_a_sentence_without_object_is_asked_for_by_its_first_words() -> None:
    questions = questions_for(
        type=MemoryType.FACT, subject="Mara", predicate="", object_text="", content="Mara: the ferry was late again."
    )
    assert "What did Mara say about the ferry was late again?" in questions
