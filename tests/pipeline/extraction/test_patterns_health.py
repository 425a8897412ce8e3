"""Health, allergies, diets and medicines of the speaker and of others."""

import pytest

from apps.pipeline.core.enums import Polarity
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Allergies and intolerances.
        ("I can't eat shellfish.", ["User cannot eat shellfish."]),
        ("i can't have dairy or eggs", ["User cannot have dairy or eggs."]),
        ("I can't tolerate ibuprofen, it upsets my stomach.", ["User cannot tolerate ibuprofen."]),
        ("I'm intolerant to lactose.", ["User is intolerant to lactose."]),
        ("I'm lactose intolerant, so oat milk please.", ["User is lactose intolerant."]),
        ("I have a lactose intolerance.", ["User has a lactose intolerance."]),
        ("My son is allergic to tree nuts.", ["User's son is allergic to tree nuts."]),
        (
            "My daughter Mira is allergic to bee stings.",
            ["Mira, User's daughter, is allergic to bee stings."],
        ),
        ("Our youngest can't have peanuts.", ["User's youngest child cannot have peanuts."]),
        (
            "My dad had a stroke in 2019 and can't drive any more.",
            ["User's dad had a stroke in 2019.", "User's dad can no longer drive."],
        ),
        (
            "My mum has dementia and lives in a care home.",
            ["User's mum has dementia.", "User's mum lives in a care home."],
        ),
        (
            "My daughter has type 1 diabetes and wears a pump.",
            ["User's daughter has type 1 diabetes.", "User's daughter wears a pump."],
        ),
        ("Shellfish makes me break out in hives.", ["Shellfish makes User break out in hives."]),
        ("My doctor says I should stay off alcohol.", ["User should stay off alcohol."]),
        ("I'm starting candesartan, 8 mg in the morning.", ["User takes candesartan 8 mg in the morning."]),
        ("I can't take anything with codeine.", ["User cannot take anything with codeine."]),
        ("He still takes the bisoprolol.", ["He still takes the bisoprolol."]),
        ("My dad isn't allowed to drive any more.", ["User's dad is no longer allowed to drive."]),
        ("There's a blood test on 9 April, could you add it?", ["User's blood test is on 9 April."]),
        ("Leo is allergic to bees as we found out last week.", ["Leo is allergic to bees."]),
        ("I use the blue inhaler twice a day.", ["User uses the blue inhaler twice a day."]),
        ("Leo does not tolerate milk.", ["Leo does not tolerate milk."]),
        ("They've doubled Dad's metformin, he's on 1,000 mg now.", ["User's dad takes metformin 1,000 mg."]),
        ("They doubled my ramipril, I'm on 10 mg now.", ["User takes ramipril 10 mg."]),
        ("Leo can't have egg, can he?", []),
        (
            "My mother-in-law lives with us since May, she can't eat salt.",
            ["User's mother-in-law lives with User since May.", "User's mother-in-law cannot eat salt."],
        ),
        ("They stopped my amlodipine because my ankles were swelling.", ["User no longer takes amlodipine."]),
        ("I'm five months pregnant.", ["User is five months pregnant."]),
        ("I'm seeing a therapist on Mondays.", ["User is seeing a therapist on Mondays."]),
        ("My wife has a severe shellfish allergy.", ["User's wife has a shellfish allergy."]),
        ("Heads up: I'm allergic to latex.", ["User is allergic to latex."]),
        ("Can you find a cake recipe? My husband is coeliac.", ["User's husband is coeliac."]),
        (
            "I'm allergic to cashews and pistachios, but almonds are fine.",
            ["User is allergic to cashews and pistachios."],
        ),
        ("Tomas (my brother) is allergic to cats.", ["Tomas, User's brother, is allergic to cats."]),
        (
            "Tomas, my brother, doesn't tolerate gluten.",
            ["Tomas is User's brother.", "Tomas does not tolerate gluten."],
        ),
        ("My mum doesn't tolerate penicillin.", ["User's mum does not tolerate penicillin."]),
        ("I don't get on with lactose.", ["User does not get on with lactose."]),
        ("I break out in hives from strawberries.", ["User breaks out in hives from strawberries."]),
        ("Strawberries give me hives.", ["Strawberries give User hives."]),
        ("My cousin brings his girlfriend Aoife and she's coeliac.", ["Aoife is coeliac."]),
        # Conditions.
        ("I'm diabetic.", ["User is diabetic."]),
        ("I'm a type 1 diabetic, so no juice.", ["User is a type 1 diabetic."]),
        ("I'm celiac.", ["User is celiac."]),
        ("My father is asthmatic.", ["User's father is asthmatic."]),
        ("I'm deaf in my left ear since childhood.", ["User is deaf in their left ear since childhood."]),
        ("I have type 2 diabetes.", ["User has type 2 diabetes."]),
        ("I've got high cholesterol.", ["User has high cholesterol."]),
        ("I was diagnosed with an underactive thyroid in March.", ["User has an underactive thyroid."]),
        ("My blood pressure is too high.", ["User's blood pressure is too high."]),
        ("I get migraines when I skip meals.", ["User has migraines."]),
        ("My grandfather was diagnosed with Alzheimer's last month.", ["User's grandfather has Alzheimer's."]),
        ("My allergies: penicillin, latex", ["User is allergic to penicillin.", "User is allergic to latex."]),
        ("Since the operation I can't eat anything spicy.", ["User cannot eat anything spicy."]),
        ("My dose of sertraline was raised from 50 to 100 mg.", ["User's dose of sertraline is 100 mg."]),
        ("I'm on keto.", ["User is on keto."]),
        # Diets.
        ("I've been vegan for six years.", ["User is vegan."]),
        ("My sister went vegetarian last year.", ["User's sister is vegetarian."]),
        ("I'm a pescatarian.", ["User is pescatarian."]),
        ("We keep kosher at home.", ["User keeps kosher."]),
        ("I don't eat pork.", ["User does not eat pork."]),
        ("I don't drink alcohol.", ["User does not drink alcohol."]),
        ("I'm on a low-sodium diet.", ["User is on a low-sodium diet."]),
        ("No meat for me since January.", ["User does not have meat since January."]),
        ("I gave up sugar in March.", ["User gave up sugar in March."]),
        # Medicines.
        ("My doctor put me on ramipril.", ["User takes ramipril."]),
        ("They put me on 20 mg of atorvastatin last week.", ["User takes atorvastatin 20 mg."]),
        ("Dr. Voss put me on metformin 500 mg.", ["User takes metformin 500 mg."]),
        ("I take levothyroxine 75 mcg every morning.", ["User takes levothyroxine 75 mcg every morning."]),
        ("I'm on sertraline.", ["User is on sertraline."]),
        ("I was prescribed amoxicillin for a week.", ["User was prescribed amoxicillin for a week."]),
        ("My mum takes warfarin.", ["User's mum takes warfarin."]),
        (
            "The cardiologist switched me from ramipril to losartan.",
            ["User takes losartan."],
        ),
        ("She switched me to losartan 50 mg.", ["User takes losartan 50 mg."]),
        ("I stopped taking ibuprofen.", ["User no longer takes ibuprofen."]),
        ("I'm off metformin now.", ["User no longer takes metformin."]),
        ("I don't take ramipril any more.", ["User no longer takes ramipril."]),
        ("I've come off sertraline.", ["User no longer takes sertraline."]),
        # Appointments.
        ("I have a dentist appointment on 14 May.", ["User has a dentist appointment on 14 May."]),
        ("My knee surgery is on 3 June.", ["User's knee surgery is on 3 June."]),
        ("I'm having knee surgery on 3 June.", ["User is having knee surgery on 3 June."]),
        ("My mother has her cataract operation on Monday.", ["User's mother has her cataract operation on Monday."]),
        # Not after all.
        ("It turns out I'm not allergic to kiwi after all.", ["User is not allergic to kiwi after all."]),
        ("My son isn't allergic to eggs after all.", ["User's son is not allergic to eggs after all."]),
        ("It turned out to be gastritis.", []),
        ("I'm not diabetic after all.", ["User is not diabetic after all."]),
        ("I'm no longer vegan.", ["User is no longer vegan."]),
        ("I eat fish again.", ["User eats fish again."]),
        ("Turns out I'm lactose intolerant.", ["User is lactose intolerant."]),
        # What stands behind "since" is no part of the cause.
        ("They use tiles, since carpet makes my asthma worse.", ["Carpet makes User's asthma worse."]),
        ("I skip it since dairy gives me cramps.", ["Dairy gives User cramps."]),
        ("Since dairy gives me cramps I skip it.", ["Dairy gives User cramps."]),
        # "The" medicine of a sentence about somebody else is theirs.
        (
            "My mum got a rash from the tramadol so they swapped it for naproxen.",
            ["User's mum got a rash from the tramadol.", "User's mum no longer takes tramadol."],
        ),
    ],
)
def test_health_is_kept(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "They put me on hold.",
        "She put me on the spot.",
        "He put me on speaker.",
        "I can't eat any more of it.",
        "I can't have that.",
        "I can't eat right now.",
        "Are you allergic to anything?",
        "Is my son allergic to nuts?",
        "If I were diabetic I'd worry.",
        "I'm on the train.",
        "I'm off to bed.",
        "I'm off work today.",
        "I take the bus.",
        "I take notes.",
        "No wine for me tonight.",
        "I might be allergic to",
    ],
)
def test_what_is_no_health_fact_is_left(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value", "polarity"),
    [
        ("I'm intolerant to lactose.", "User", "intolerant_to", "lactose", Polarity.POSITIVE),
        ("I'm diabetic.", "User", "has_condition", "diabetes", Polarity.POSITIVE),
        ("My husband is coeliac.", "User's husband", "has_condition", "coeliac disease", Polarity.POSITIVE),
        ("My doctor put me on 5 mg of ramipril.", "User", "takes_medication", "ramipril", Polarity.POSITIVE),
        ("I stopped taking ramipril.", "User", "takes_medication", "ramipril", Polarity.NEGATIVE),
        ("I'm not allergic to kiwi after all.", "User", "allergic_to", "kiwi", Polarity.NEGATIVE),
        ("I can't eat gluten.", "User", "can_have", "gluten", Polarity.NEGATIVE),
    ],
)
def test_old_and_new_meet_in_one_slot(text: str, subject: str, predicate: str, value: str, polarity: Polarity) -> None:
    (found,) = said(text)
    assert (found.subject.text, found.predicate, found.object.text) == (subject, predicate, value)
    assert found.polarity is polarity


def test_between_people_a_list_of_medicines_needs_a_person() -> None:
    assert contents("Metformin, 500 mg with breakfast.", speaker="Ruth") == []
    assert contents("I take metformin, 500 mg with breakfast.", speaker="Ruth") == ["Ruth takes metformin 500 mg."]
