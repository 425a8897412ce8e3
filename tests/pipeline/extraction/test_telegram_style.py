"""What telegrams leave out: subjects behind a name, "I have", "I'm on", days in words."""

import pytest

from apps.pipeline.core.enums import Role, SourceConfidence
from apps.pipeline.extraction.patterns import extract
from tests.pipeline.builders import turn
from tests.pipeline.extraction.extract_helper import POLICY, contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ingrid, starts May 4", ["Ingrid starts May 4."]),
        ("Great, starts May 4", []),
        ("Yeah, lives in Leeds", []),
        ("Monday, starts at nine", []),
        ("I called Tom. Works fine now", []),
        ("Tom fixed the job. Runs every night", []),
        ("Anna sent the tickets. Loves you", []),
        (
            "My sister Anna is a nurse. Lives in Hull. Hates peas.",
            ["Anna, User's sister, is a nurse.", "Anna lives in Hull.", "Anna hates peas."],
        ),
        (
            "I've two children: Mark, he's a plumber, and Sarah, she's a vet.",
            ["User has two children.", "Mark is a plumber.", "Sarah is a vet."],
        ),
        ("I told my son Mark he's late", ["Mark is User's son."]),
        ("I moved to Berlin, she's in Rome", ["User lives in Berlin."]),
        ("My mum, who's 81, lives with us.", ["User's mum is 81 years old.", "User's mum lives with User."]),
        ("Two kids, one dog", ["User has two kids."]),
        ("Two kids were late", []),
        ("Two dogs barked all night", []),
        ("Married, two kids", ["User is married.", "User has two kids."]),
        ("Single malt, two ice cubes", []),
        ("On the train now", []),
        ("On holiday since Monday", []),
        ("Off the record, he is rude", []),
        ("Our puppy arrives July twelfth.", ["User's puppy arrives 12 July."]),
        ("The first of the twins walked in May.", []),
        ("My sister's wedding is on the thirtieth of April", ["User's sister's wedding is on 30 April."]),
        ("Alfie's allergic to eggs would you believe", ["Alfie is allergic to eggs."]),
        ("hey. noor, 33, freelance photographer in toronto",
         ["User's name is Noor.", "User is 33 years old.", "User is a freelance photographer."]),
        ("Sofia, 28, nurse in Leeds", []),
        ("Hi, Ines, 44, teacher, applied for the job", []),
        ("anna, my sister, is a nurse", ["Anna, User's sister, is a nurse."]),
        ("My dad lives alone", ["User's dad lives alone."]),
        ("The hope lives alone", []),
        ("My mum lives with us", ["User's mum lives with User."]),
        ("so, my sister, is it raining", []),
        ("my friend jo has lupus", ["Jo, User's friend, has lupus."]),
        ("my friend situation is bad", []),
        ("we're four and Ben can't have dairy", ["Ben cannot have dairy."]),
        ("stopped drinking coffee", ["User stopped drinking coffee."]),
        ("stopped working after the update", []),
        ("drive a Skoda", ["User drives a Skoda."]),
        ("drive the point home", []),
        ("we change the pod every three days", ["User changes the pod every three days."]),
        ("I've gone part time", ["User works part time."]),
        ("It's a part time thing", []),
        ("I sell cakes at the market", ["User sells cakes at the market."]),
        ("I sell everything on Ebay", []),
        ("My wife Emi is pastry chef", ["User's wife is Emi.", "Emi is a pastry chef."]),
        ("She is lead on this", []),
        ("My daughter's in the army", ["User's daughter is in the army."]),
        ("My brother's in the police station", []),
        ("Juniper is going to diabetes camp", []),
        ("Please keep in mind that I have asthma", ["User has asthma."]),
        ("When you pick a cake, remember that Ida has coeliac disease", ["Ida has coeliac disease."]),
        ("Remember that the meeting is at nine", []),
        ("Remember that he said you are late", []),
        ("Sweet potatoes, I regret to say, I cannot abide.", ["User cannot abide sweet potatoes."]),
        ("I can't bear it", []),
        ("My mother in Dunga is diabetic", ["User's mother lives in Dunga.", "User's mother is diabetic."]),
        ("My brother in Christ is here", []),
        ("My sister in March was here", []),
        ("They made me team leader", ["User is team leader."]),
        ("They made me laugh", []),
        ("thanks my friend", []),
        ("I'm off the vapes", ["User is off the vapes."]),
        ("I'm off work today", []),
        ("we're open Tuesday to Saturday", ["User is open Tuesday to Saturday."]),
        ("I'm open to ideas", []),
        ("My physio says no running on hard ground", ["User must not run on hard ground."]),
        ("My boss says no meetings on Fridays", []),
        ("My sister is moving in with us", ["User's sister is moving in with User."]),
        ("My sister is moving in her own way", []),
        ("Grace expects a baby in December", ["Grace expects a baby in December."]),
        ("The parcel expects a signature", []),
        ("I had thought of Truro for good", []),
        ("I get 5 a week", []),
        ("Mia eats nothing that is green", []),
        ("My son eats nothing but pasta", []),
        ("In the evening there is always a lorry.", []),
        ("I'll never forget the face on the priest", []),
        ("Chef broke his wrist", []),
        ("Cian broke the news", []),
        ("I'm not pregnant", []),
        ("I'm not American", []),
        ("we got rid of that bug", []),
    ],
)  # fmt: skip
def test_what_is_left_out_is_written_out_where_it_is_sure(text: str, expected: list[str]) -> None:
    assert [
        each.content for each in said(text) if each.source_confidence is not SourceConfidence.SPECULATED
    ] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The new lad at work is diabetic", []),
        ("One of them is a vegetarian", []),
        ("Some of us are vegan", []),
        ("Another guest has diabetes", []),
        ("That man is blind", []),
        ("The soup has gluten and I'm coeliac", ["User is coeliac."]),
        ("The twins are allergic to eggs", ["User's twins are allergic to eggs."]),
        ("The dog is on carprofen", ["User's dog is on carprofen."]),
        ("The doctor has put me on ramipril", ["User takes ramipril."]),
        ("and Cian who's 15 has asthma", ["Cian has asthma."]),
        ("well Ida the 12 year old has turned vegetarian", ["Ida is vegetarian."]),
        ("The doctor at Aga Khan was cross: amlodipine is 10 mg now", ["User takes amlodipine 10 mg."]),
        ("The metformin has been doubled: it is now 1000 mg", ["User takes metformin 1000 mg."]),
        ("The haematologist has raised the hydroxyurea to 750", ["User takes hydroxyurea 750."]),
        ("The doctor has raised an eyebrow", []),
        ("turns out it isn't asthma", []),
        ("doctor says it's probably shingles", []),
        ("My boss reckons I have ADHD", []),
        ("I come off the sertraline next week", []),
        ("I came off sertraline in March", ["User no longer takes sertraline."]),
        ("they've stopped my statins", ["User no longer takes statins."]),
        ("I was allergic to being contradicted", []),
        ("bees and I don't mix", []),
        ("I'm low on cash", []),
        ("I'm low in B12", ["User has low B12."]),
        ("It is because of the simvastatin that I take", ["User takes simvastatin."]),
    ],
)
def test_health_is_told_of_whom_a_clause_is_about(text: str, expected: list[str]) -> None:
    assert [
        each.content for each in said(text) if each.source_confidence is not SourceConfidence.SPECULATED
    ] == expected


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("My English is not so good so please use easy words.", "always use easy words"),
        ("i have adhd so no massive paragraphs ok", "never use massive paragraphs"),
        ("We're vegan so never suggest meat", "never suggest meat"),
        ("I'm in a hurry so keep it short", ""),
        ("write the summary as always", ""),
        ("please continue to the next step", ""),
        ("Please continue to use Canadian spelling", "always use Canadian spelling"),
        ("Would you kindly write somewhat shorter paragraphs?", "always write somewhat shorter paragraphs"),
        ("Can you write a shorter paragraph?", ""),
        ("Do not, please, lecture me about cake", "never lecture User about cake"),
        ("I'm tired so no long texts please", ""),
        ("I have two drafts so please use simple words", ""),
        ("We have guests so please use nice words in the invite", ""),
        ("I'm on the train so keep it short", ""),
    ],
)
def test_a_wish_is_for_good_if_its_reason_is(text: str, rule: str) -> None:
    wished = [each for each in contents(text) if "wants the assistant" in each]
    assert wished == ([f"User wants the assistant to {rule}."] if rule else [])


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("What's your cat called?", "Prompt.", ["Prompt is User's cat."]),
        ("What is the function called?", "Parse", []),
        ("What is your wife's name?", "Anna", ["User's wife is Anna."]),
        ("How old is your son?", "twelve", ["User's son is twelve years old."]),
        ("How old is the library?", "12", []),
        ("What does your husband do?", "plumber", ["User's husband is a plumber."]),
        ("What does your husband do?", "nothing much", []),
        ("What does Ines do?", "She's away", []),
        ("When is the wedding?", "12 September", ["User's wedding is on 12 September."]),
        ("When is the meeting?", "later", []),
    ],
)
def test_an_answer_tells_of_the_one_that_is_asked_about(question: str, answer: str, expected: list[str]) -> None:
    asked = turn(question, role=Role.ASSISTANT)
    found = extract(turn=turn(answer), policy=POLICY, before=(asked,))
    assert [each.content for each in found] == expected
