"""Statements in German, French and Spanish, converted to English."""

import pytest

from apps.pipeline.core.enums import Polarity
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gegen Erdnüsse bin ich allergisch.", ["User is allergic to peanuts."]),
        ("Ich wohne seit Mai in Graz.", ["User lives in Graz since May."]),
        ("J'habite à Colmar.", ["User lives in Colmar."]),
        ("Je travaille chez Renault.", ["User works at Renault."]),
        ("Me llamo Inés.", ["User's name is Inés."]),
        ("Meine Schwester Gerda kommt morgen.", ["Gerda is User's sister."]),
        ("Je suis chez Solène, ma belle-fille.", ["Solène is User's daughter-in-law."]),
        ("Ich bin allergisch auf Katzen.", ["User is allergic to cats."]),
        ("Ich habe eine Nussallergie.", ["User has a Nuss allergy."]),
        ("Je suis allergique aux arachides et à rien d'autre.", ["User is allergic to peanuts."]),
        ("Soy alérgica a la penicilina.", ["User is allergic to penicillin."]),
        ("Meine Schwester ist gegen Nüsse allergisch.", ["User's sister is allergic to nuts."]),
        ("Mein bester Freund Jan ist gegen Nüsse allergisch.", ["Jan, User's best friend, is allergic to nuts."]),
        ("Meine Frau verträgt kein Gluten.", ["User's wife does not tolerate gluten."]),
        ("Ich bin seit Mai vegan.", ["User is vegan."]),
        (
            "Leo hat am 14. Oktober einen Termin beim Kinderarzt, um 9 Uhr 30.",
            ["Leo has an appointment at the Kinderarzt on 14 October."],
        ),
        ("He dejado el café, la doctora dice que no.", ["User stopped the coffee."]),
        ("Ahora uso Trelegy una vez al día en vez de Foster.", ["User uses Trelegy once a day."]),
        ("Ab 1. Dezember arbeite ich bei Acme, da geht's um Kräne.", ["User works at Acme."]),
        ("Réponds-moi toujours en français sauf quand j'écris en anglais.", []),
        ("J'ai adopté une chatte à la SPA hier, elle s'appelle Mochi.", ["Mochi is User's cat."]),
        (
            "Je suis chez Solène, ma belle-fille. Grande nouvelle : elle attend des jumeaux !",
            ["Solène, User's daughter-in-law, is expecting twins."],
        ),
        (
            "Ich bin vom Simvastatin auf Ezetimib umgestiegen.",
            ["User takes ezetimibe.", "User no longer takes simvastatin."],
        ),
        ("Ich vertrage keine Laktose.", ["User does not tolerate lactose."]),
        ("Ich esse kein Fleisch.", ["User does not eat meat."]),
        ("Je ne mange pas de porc.", ["User does not eat pork."]),
        ("Ich bin Vegetarierin.", ["User is vegetarian."]),
        ("Ich habe Asthma.", ["User has Asthma."]),
        ("Ich nehme morgens Bisoprolol 5 mg.", ["User takes bisoprolol 5 mg in the morning."]),
        ("Mein Arzt hat mich auf Losartan umgestellt.", ["User takes losartan."]),
        ("Das Ramipril wurde abgesetzt.", ["User no longer takes ramipril."]),
        ("Am 3. Juni um 9 Uhr habe ich Zahnarzt.", ["User has an appointment on 3 June at 9: Zahnarzt."]),
        ("Die Operation ist jetzt am 12. August.", ["User's operation is on 12 August."]),
        (
            "J'ai rendez-vous chez le dentiste le 4 mai à 10h30.",
            ["User has an appointment at the dentist on 4 May at 10:30."],
        ),
    ],
)
def test_what_is_told_of_oneself_is_kept(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Bin ich gegen Erdnüsse allergisch?",
        "Wenn ich Asthma habe, was mache ich dann?",
        "Ich habe keine Zeit für das.",
        "Was nehme ich gegen Husten?",
    ],
)
def test_what_is_not_told_of_oneself_is_left(text: str) -> None:
    assert contents(text) == []


def test_a_denial_meets_what_it_ends() -> None:
    (taken,), (ended,) = said("Ich nehme Ramipril."), said("Das Ramipril wurde abgesetzt.")
    assert (taken.predicate, taken.object.text) == (ended.predicate, ended.object.text)
    assert (taken.polarity, ended.polarity) == (Polarity.POSITIVE, Polarity.NEGATIVE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "For the card: bisoprolol 5 in the morning, metformin 850 mg twice a day.",
            ["User takes bisoprolol 5 in the morning.", "User takes metformin 850 mg twice a day."],
        ),
        (
            "Ramipril 5 mg, simvastatin 20 mg in the evening.",
            ["User takes ramipril 5 mg.", "User takes simvastatin 20 mg in the evening."],
        ),
        ("Please note: no penicillin for me!", ["User cannot have penicillin."]),
        ("Should I take ramipril 5 mg or 10 mg?", []),
        ("She takes ramipril 5 mg and metformin 500 mg.", ["She takes ramipril 5 mg and metformin 500 mg."]),
    ],
)
def test_medicines_in_a_row(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
