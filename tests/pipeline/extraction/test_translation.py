"""Statements in German, French and Spanish become English clauses."""

import pytest

from apps.pipeline.extraction.patterns.translation import translated
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Ich arbeite nicht mehr bei Siemens.", ("I no longer work at Siemens",)),
        ("Seit Mai wohne ich in Graz.", ("I live in Graz since May",)),
        (
            "Ich wohne nicht mehr in Erlangen, sondern in Nürnberg.",
            ("I no longer live in Erlangen", "I live in Nürnberg"),
        ),
        ("Wir haben letzte Woche einen Hund adoptiert.", ("we adopted a dog last week",)),
        ("Ich bin jetzt Vegetarier.", ("I am now vegetarian",)),
        ("Je ne bois pas d'alcool.", ("I do not drink alcohol",)),
        ("Mon mari travaille chez Orange.", ("my husband works at Orange",)),
        ("Le samedi je travaille au marché.", ("I work at the marché on Saturdays",)),
        (
            "Ma fille s'appelle Manon, elle est allergique aux œufs.",
            ("my daughter is called Manon", "she is allergic to eggs"),
        ),
        ("J'ai 42 ans.", ("I am 42 years old",)),
        ("Mon examen est le 3 juillet.", ("my exam is on 3 July",)),
        ("Ya no vivo en Valencia, me he mudado a Sevilla.", ("I no longer live in Valencia", "I moved to Sevilla")),
        ("No puedo tomar lactosa.", ("I can not have lactose",)),
        ("Respóndeme siempre en español.", ("always answer in Spanish",)),
    ],
)
def test_the_grammar_of_a_statement_becomes_english(text: str, clauses: tuple[str, ...]) -> None:
    assert translated(text) == clauses


@pytest.mark.parametrize(
    "text",
    [
        "I live on a mountain.",
        "On a Tuesday I am free.",
        "Est-ce que je dois venir ?",
        "Wenn ich reich wäre, würde ich in Wien wohnen.",
        "Si fuera rica viviría en París.",
        "Je le vois souvent.",
        "",
    ],
)
def test_english_questions_and_what_is_not_so_become_nothing(text: str) -> None:
    assert translated(text) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Je suis institutrice à Rennes.", ["User works as an institutrice in Rennes."]),
        ("Soy contable.", ["User works as a contable."]),
        ("Ich bin Elektriker.", ["User works as an Elektriker."]),
        ("Ich bin Peter.", []),
        ("Je suis fatiguée.", []),
        ("Je suis heureuse.", []),
        ("Réponds-moi toujours en français.", ["User wants the assistant to always answer in French."]),
        ("Je prends de la lévothyroxine 75 µg.", ["User takes levothyroxine 75 µg."]),
        ("J'ai vu cette annonce : « Je suis étudiante et j'habite à Lyon »", []),
        (
            "Jouons une scène : tu es le client et moi je suis le patron. J'habite à Bordeaux.",
            [],
        ),
    ],
)
def test_what_is_read_from_the_translation(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


def test_a_spaced_question_mark_ends_a_sentence() -> None:
    assert contents("Tu peux m'aider ? J'habite à Metz.") == ["User lives in Metz."]


def test_a_medicine_has_one_name_in_all_languages() -> None:
    names = {said(text)[0].object.text for text in ("Ich nehme Ezetimib 10 mg.", "I take ezetimibe 10 mg.")}
    assert names == {"ezetimibe"}
