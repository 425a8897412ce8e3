"""The type of answer that a question asks for."""

import pytest

from apps.retrieval.query_text import AnswerType, wanted_answer

TIME, PLACE, QUANTITY, NONE = AnswerType.TIME, AnswerType.PLACE, AnswerType.QUANTITY, AnswerType(0)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("When is the dentist?", TIME),
        ("Seit wann wohnt Ana in Rom?", TIME),
        ("Quand part-elle ?", TIME),
        ("¿Dónde vive Ana?", PLACE),
        ("Where does she work?", PLACE),
        ("From where did they come?", PLACE),
        ("When and where is the wedding?", TIME | PLACE),
        ("How many cats does Bo have?", QUANTITY),
        ("How do I know Bo?", NONE),
        ("Wie viele Katzen hat Bo?", QUANTITY),
        ("So how old is Bo now?", QUANTITY),
        ("What should I cook when Lena comes?", NONE),
        ("Who is Ana?", NONE),
        ("the dentist", NONE),
        ("where", PLACE),
        ("", NONE),
        ("x" * 5_000, NONE),
    ],
)
def test_wanted_answer(query: str, wanted: AnswerType) -> None:
    assert wanted_answer(query) == wanted
