"""Health is read by what a sentence names, whatever its grammar: medicines, conditions, reactions, diets, doctors."""

import pytest

from tests.pipeline.extraction.extract_helper import contents

MOTHER = "User's mother"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Medicines with what stands between name and dose left out; without a verb too.
        ("Lisinopril 10 at bedtime.", ["User takes lisinopril 10 at night."]),
        ("My bisoprolol went up to 5 mg.", ["User takes bisoprolol 5 mg."]),
        ("Amoxicillin doubled, 500 twice a day now.", ["User takes amoxicillin 500 twice a day."]),
        ("I'm on Zyloprix 20 mg every morning.", ["User is on Zyloprix 20 mg every morning."]),
        ("He put my mother on rivastigmine, 3 mg.", [f"{MOTHER} takes rivastigmine 3 mg."]),
        ("Nurse wants me off naproxen.", ["User no longer takes naproxen."]),
        ("They gave me ibuprofen once.", []),
        ("My pharmacist never sells ibuprofen to kids.", []),
        # Conditions, and whose.
        ("I was told in May that I have fibromyalgia.", ["User has fibromyalgia."]),
        ("My aunt's eyes are bad, macular degeneration.", ["User's aunt has macular degeneration."]),
        ("Blood pressure is up.", ["User has high blood pressure."]),
        ("My friend's cousin has asthma.", []),
        ("As a nurse with diabetes I work nights.", ["User has diabetes."]),
        ("Being a mum with epilepsy is hard.", ["User has epilepsy."]),
        ("Being a person with autism must be hard.", []),
        ("My daughter is now a teen with diabetes.", ["User's daughter has diabetes."]),
        ("I became a nurse with asthma.", ["User is a nurse.", "User has asthma."]),
        ("There is a boy with asthma in my class.", []),
        ("We saw a man with epilepsy.", []),
        ("They see her as a woman with diabetes.", []),
        ("I read that turmeric helps with arthritis.", []),
        # What a body can't do, not what somebody judges or plays.
        ("I'm short-sighted.", ["User is short-sighted."]),
        ("My mum is short-sighted.", ["User's mum is short-sighted."]),
        ("My boss is short-sighted.", []),
        ("I was shortsighted about my savings.", []),
        ("My dad can't climb stairs.", ["User's dad cannot climb stairs."]),
        ("My son can't do many steps of this equation.", []),
        ("I can't handle any hills in this racing game.", []),
        ("My dad can't face the stairs project before spring.", []),
        # What somebody's body does not bear.
        ("Shellfish makes my throat swell.", ["Shellfish makes User's throat swell."]),
        ("Penicillin is forbidden for me.", ["User cannot have penicillin."]),
        ("Shrimp I can never eat.", ["User cannot have shrimp."]),
        ("The amoxicillin gave my son a rash.", ["Amoxicillin gave User's son a rash."]),
        ("I'm short of breath after dairy.", ["User is short of breath after dairy."]),
        ("Eggs don't agree with me.", ["Eggs don't agree with User."]),
        ("He makes me sick.", []),
        ("This song gives me goosebumps.", []),
        # Diets, aids, doctors.
        ("So no cheese, no butter for me.", ["User does not have cheese or butter."]),
        ("My cardiologist is Feldman, at Mercy.", ["User's cardiologist is Feldman, at Mercy."]),
        ("I'm off dairy now. JOKE.", []),
    ],
)
def test_health_is_read_by_what_is_named(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


def test_a_sentence_without_a_person_is_about_whom_the_one_before_was() -> None:
    told = contents("My wife's memory is going. Alzheimer's, diagnosed in autumn. Donepezil 5 at bedtime.")
    assert told == ["User's wife has Alzheimer's.", "User's wife takes donepezil 5 at bedtime."]


def test_what_somebody_reacted_to_is_no_longer_taken_once_a_doctor_said_stop() -> None:
    told = contents("Allopurinol brought me out in a rash. The doctor said stop taking it.")
    assert told == ["Allopurinol brought User out in a rash.", "User no longer takes allopurinol."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n i went veggie in sept", ["User is vegetarian."]),
        ("Daughter Linda lives in Akron.", ["Linda, User's daughter, lives in Akron."]),
        ("Son in Phoenix, Gary.", ["Gary, User's son, lives in Phoenix."]),
        ("Myself Arjun.", ["User is called Arjun."]),
        ("Short answers please.", ["User wants the assistant to always use short answers."]),
    ],
)
def test_what_short_messages_leave_out_is_written_out(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
