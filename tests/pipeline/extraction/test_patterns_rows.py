"""Every typed row: one statement that it matches completely, and near misses without a result."""

import pytest

from apps.pipeline.core.enums import Polarity, SourceConfidence
from apps.pipeline.extraction.patterns.catalogue import PATTERNS
from tests.pipeline.extraction.extract_helper import contents, said

# row, what is said, content, type and predicate, object
HITS = [
    ("allergic_to", "I'm allergic to penicillin.", "User is allergic to penicillin.", "fact allergic_to", "penicillin"),
    ("has_allergy", "I have a severe nut allergy.", "User has a nut allergy.", "fact allergic_to", "nut"),
    ("cannot_have", "I can't eat gluten.", "User cannot eat gluten.", "fact can_have", "gluten"),
    ("intolerant_to", "I'm intolerant to soy.", "User is intolerant to soy.", "fact intolerant_to", "soy"),
    ("is_intolerant", "I'm lactose intolerant.", "User is lactose intolerant.", "fact intolerant_to", "lactose"),
    (
        "has_intolerance",
        "I have a histamine intolerance.",
        "User has a histamine intolerance.",
        "fact intolerant_to",
        "histamine",
    ),
    (
        "does_not_tolerate",
        "I don't tolerate codeine.",
        "User does not tolerate codeine.",
        "fact can_have",
        "codeine",
    ),
    (
        "reacts_to",
        "I break out in hives from strawberries.",
        "User breaks out in hives from strawberries.",
        "fact reacts_to",
        "strawberries",
    ),
    ("is_condition", "I'm a type 1 diabetic.", "User is a type 1 diabetic.", "fact has_condition", "diabetes"),
    ("has_condition", "I was diagnosed with asthma.", "User has asthma.", "fact has_condition", "asthma"),
    (
        "diagnosed",
        "I got diagnosed with a rare blood disorder last spring.",
        "User got diagnosed with a rare blood disorder last spring.",
        "event diagnosed_with",
        "rare blood disorder last spring",
    ),
    (
        "injury",
        "I broke my wrist while skating in January.",
        "User broke their wrist while skating in January.",
        "event injured",
        "wrist while skating in January",
    ),
    (
        "takes_medicine",
        "I'm taking blood pressure medication.",
        "User is taking blood pressure medication.",
        "fact takes_medication",
        "blood pressure medication",
    ),
    (
        "takes_dose",
        "I take 5 mg of Zylofan at night.",
        "User takes 5 mg of Zylofan at night.",
        "fact takes_medication",
        "Zylofan",
    ),
    (
        "takes_dosed",
        "I take Zylofan 5 mg at night.",
        "User takes Zylofan 5 mg at night.",
        "fact takes_medication",
        "Zylofan",
    ),
    (
        "stopped_medicine",
        "I stopped taking ramipril.",
        "User no longer takes ramipril.",
        "fact takes_medication",
        "ramipril",
    ),
    (
        "prescribed",
        "I was prescribed amoxicillin for a week.",
        "User was prescribed amoxicillin for a week.",
        "event prescribed",
        "amoxicillin",
    ),
    (
        "has_operation",
        "I'm having knee surgery on 3 June.",
        "User is having knee surgery on 3 June.",
        "event has_appointment",
        "knee surgery on 3 June",
    ),
    ("restricted_diet", "I'm on a low-salt diet.", "User is on a low-salt diet.", "fact diet", "low-salt diet"),
    ("keeps_diet", "We keep kosher.", "User keeps kosher.", "fact diet", "kosher"),
    (
        "goes_without",
        "No meat for me since January.",
        "User does not have meat since January.",
        "fact consumes",
        "meat since January",
    ),
    (
        "will_be_in",
        "I'll be in Lisbon from 3 May.",
        "User will be in Lisbon from 3 May.",
        "event plans_to_be_in",
        "Lisbon from 3 May",
    ),
    ("role_at", "I'm backend lead at Helios Maps.", "User is backend lead.", "fact works_as", "backend lead"),
    ("office", "I'm head of projects.", "User is head of projects.", "fact works_as", "head of projects"),
    ("teaches", "I teach geography.", "User teaches geography.", "fact teaches", "geography"),
    (
        "is_seeing",
        "I'm seeing someone named Sandra.",
        "User is together with Sandra.",
        "fact is_together_with",
        "Sandra",
    ),
    ("does_without", "No milk for me any more.", "User goes without milk.", "fact consumes", "milk"),
    ("state_of_health", "I hear nothing in my left ear.", "User hears nothing in User's left ear.", "fact state_of_health", "nothing in user's left ear"),
    ("family_history", "Breast cancer runs in my family.", "Breast cancer runs in User's family.", "fact family_history", "breast cancer"),
    ("wants_to_be", "I want to be a paramedic.", "User wants to be a paramedic.", "event wants", "be a paramedic"),
    ("works_as_for_years", "I have been a tax adviser for ten years.", "User has been a tax adviser for years.", "fact works_as", "tax adviser"),
    ("immune_to", "I'm immune to measles.", "User is immune to measles.", "fact immune_to", "measles"),
    ("reports_to", "I report to Priya Nair.", "User reports to Priya Nair.", "fact has_manager", "Priya Nair"),
    (
        "sees_doctor",
        "I see Dr. Patel at the Infirmary.",
        "User sees Dr. Patel at the Infirmary.",
        "fact sees_doctor",
        "Dr. Patel at the Infirmary",
    ),
    ("has_aid", "I wear hearing aids.", "User wears hearing aids.", "fact relies_on", "hearing aids"),
    ("can_have_again", "I can eat nuts again.", "User can eat nuts again.", "fact can_have", "nuts"),
    ("eats_again", "I'm back to eating meat.", "User eats or drinks meat again.", "fact consumes", "meat"),
    (
        "took_up_again",
        "I've started eating fish again.",
        "User has started eating fish again.",
        "fact consumes",
        "fish",
    ),
    ("cannot_do_food", "I can't do dairy.", "User cannot have dairy.", "fact can_have", "dairy"),
    ("off_food", "I'm off gluten since January.", "User is off gluten since January.", "fact consumes", "gluten"),
    ("runs_on", "We're on Postgres 17 now.", "User is on Postgres 17.", "fact uses", "Postgres 17"),
    ("works_as_at", "I'm a luthier at Kessler.", "User is a luthier at Kessler.", "fact works_as", "luthier"),
    ("must_not", "I mustn't eat grapefruit.", "User must not eat grapefruit.", "fact must_not", "eat grapefruit"),
    ("avoids", "I've cut out alcohol.", "User has cut out alcohol.", "fact consumes", "alcohol"),
    ("handedness", "I'm left-handed.", "User is left-handed.", "fact handedness", "left-handed"),
    ("fears", "I'm afraid of heights.", "User is afraid of heights.", "fact fears", "heights"),
    (
        "has_named",
        "I have a sailing boat called Marit.",
        "User has a sailing boat called Marit.",
        "fact owns",
        "sailing boat called Marit",
    ),
    ("given_up", "I quit smoking two years ago.", "User quit smoking two years ago.", "fact does", "smoking"),
    ("age", "I just turned 34.", "User is 34 years old.", "fact age", "34"),
    ("weight", "I weigh 79 kg now.", "User weighs 79 kg.", "fact weight", "79 kg"),
    ("height", "I'm 1.80 m tall.", "User is 1.80 m tall.", "fact height", "1.80 m"),
    ("nationality", "I'm half Italian.", "User is Italian.", "fact nationality", "Italian"),
    ("goes_by", "I go by Max.", "User goes by Max.", "fact nickname", "Max"),
    ("introduces_self", "Hi, I'm Ana Kowalska.", "User is called Ana Kowalska.", "fact name", "Ana Kowalska"),
    ("identifies_as", "I'm a morning person.", "User is a morning person.", "fact identifies_as", "morning person"),
    ("lives_in", "I live in Munich these days.", "User lives in Munich.", "fact lives_in", "Munich"),
    ("moved_to", "I moved from Berlin to Munich.", "User lives in Munich.", "fact lives_in", "Munich"),
    (
        "will_move_to",
        "I'm moving to Lisbon in May.",
        "User is moving to Lisbon in May.",
        "event plans_to_move_to",
        "Lisbon in May",
    ),
    ("lived_in", "I used to live in Prague.", "User used to live in Prague.", "fact lived_in", "Prague"),
    ("comes_from", "I grew up in Gdansk.", "User comes from Gdansk.", "fact comes_from", "Gdansk"),
    ("lives_with", "I live with two flatmates.", "User lives with two flatmates.", "fact lives_with", "two flatmates"),
    (
        "home_kind",
        "I rent a small studio flat near the river.",
        "User rents a small studio flat near the river.",
        "fact home",
        "small studio flat near the river",
    ),
    (
        "works_at",
        "I work at Northwind Logistics as an analyst.",
        "User works at Northwind Logistics.",
        "fact works_at",
        "Northwind Logistics",
    ),
    ("new_employer", "I started working at Helios Maps.", "User works at Helios Maps.", "fact works_at", "Helios Maps"),
    (
        "works_as",
        "I'm a senior data engineer.",
        "User is a senior data engineer.",
        "fact works_as",
        "senior data engineer",
    ),
    (
        "was_role",
        "I used to be a barista before that.",
        "User used to be a barista before that.",
        "fact worked_as",
        "barista before that",
    ),
    ("works_in_field", "I work in marketing.", "User works in marketing.", "fact works_in", "marketing"),
    (
        "works_on_team",
        "I'm on the payments team.",
        "User is on the payments team.",
        "fact works_on_team",
        "payments team",
    ),
    (
        "works_on",
        "I'm currently working on a route planner.",
        "User is currently working on a route planner.",
        "fact works_on",
        "route planner",
    ),
    ("manages", "I manage a team of six.", "User manages a team of six.", "fact manages", "team of six"),
    (
        "job_change",
        "I got promoted last month.",
        "User got promoted last month.",
        "event job_change",
        "got promoted last month",
    ),
    ("studies", "I'm studying law at night school.", "User studies law.", "fact studies", "law"),
    (
        "study_year",
        "I'm in my second year of nursing.",
        "User is in their second year of nursing.",
        "fact studies",
        "second year of nursing",
    ),
    (
        "works_as_named",
        "I work as a falconer at the castle.",
        "User works as a falconer at the castle.",
        "fact works_as",
        "falconer",
    ),
    (
        "works_at_place",
        "I work at a castle.",
        "User works at a castle.",
        "fact workplace",
        "castle",
    ),
    (
        "working_time",
        "I work part-time.",
        "User works part-time.",
        "fact working_time",
        "part-time",
    ),
    (
        "studies_at",
        "I go to the Technical University of Munich.",
        "User studies at the Technical University of Munich.",
        "fact studies_at",
        "the Technical University of Munich",
    ),
    (
        "graduated",
        "I graduated from medical school in 2019.",
        "User graduated from medical school in 2019.",
        "event graduated",
        "graduated from medical school in 2019",
    ),
    ("marital_status", "I'm married to a chef.", "User is married to a chef.", "fact marital_status", "married"),
    (
        "belongs_to_group",
        "We are a family of five.",
        "User belongs to a family of five.",
        "fact group_size",
        "family of five",
    ),
    ("has_children", "We have two little boys.", "User has two little boys.", "fact has_children", "two little boys"),
    ("has_relatives", "I have three sisters.", "User has three sisters.", "fact has_relatives", "three sisters"),
    ("expecting", "I'm pregnant with twins.", "User is pregnant with twins.", "event expecting", "pregnant with twins"),
    (
        "life_event",
        "My grandmother passed away in March.",
        "User's grandmother passed away in March.",
        "event life_event",
        "passed away in March",
    ),
    ("has_pet", "I adopted an old rescue dog.", "User adopted an old rescue dog.", "fact has_pet", "old rescue dog"),
    (
        "decided",
        "We decided to use PostgreSQL for the tracker.",
        "User decided to use PostgreSQL for the tracker.",
        "event decided",
        "use PostgreSQL for the tracker",
    ),
    (
        "plans_to",
        "I'm planning to run a marathon in autumn.",
        "User is planning to run a marathon in autumn.",
        "event plans_to",
        "run a marathon in autumn",
    ),
    (
        "considering",
        "I'm thinking about switching to part-time.",
        "User is thinking about switching to part-time.",
        "event plans",
        "switching to part-time",
    ),
    (
        "planning",
        "I'm saving for a caravan.",
        "User is saving for a caravan.",
        "event plans",
        "caravan",
    ),
    (
        "visits",
        "My sister comes on 4 May.",
        "User's sister comes on 4 May.",
        "event visits",
        "on 4 May",
    ),
    (
        "taught",
        "Ines taught me mixing.",
        "Ines taught User mixing.",
        "fact taught",
        "mixing",
    ),
    (
        "responsible_for",
        "My cousin looks after the allotment.",
        "User's cousin looks after the allotment.",
        "fact responsible_for",
        "allotment",
    ),
    (
        "wedding_day",
        "We're getting married on 5 September.",
        "User is getting married on 5 September.",
        "fact wedding",
        "on 5 September",
    ),
    (
        "wants_to",
        "I'd like to learn the cello someday.",
        "User would like to learn the cello someday.",
        "event wants",
        "learn the cello someday",
    ),
    (
        "going_to",
        "I'm going to visit my parents next month.",
        "User is going to visit User's parents next month.",
        "event plans_to",
        "visit User's parents next month",
    ),
    ("will_at", "I'll visit Lena tomorrow.", "User will visit Lena tomorrow.", "event plans_to", "visit Lena tomorrow"),
    ("might", "I might move to Vienna.", "User might move to Vienna.", "event plans_to", "move to Vienna"),
    (
        "appointment",
        "I have a dentist appointment on Tuesday.",
        "User has a dentist appointment on Tuesday.",
        "event has_appointment",
        "dentist appointment on Tuesday",
    ),
    ("does_activity", "I go to the gym.", "User goes to the gym.", "fact does", "to the gym"),
    ("faith", "I'm Catholic.", "User is Catholic.", "fact faith", "Catholic"),
    (
        "joined_as",
        "I joined Helios Maps as a product manager.",
        "User works at Helios Maps.",
        "fact works_at",
        "Helios Maps",
    ),
    (
        "trains_for",
        "I'm training for a triathlon.",
        "User is training for a triathlon.",
        "fact training_for",
        "triathlon",
    ),
    (
        "has_been_doing",
        "I've been painting since I was ten.",
        "User has been painting since User was ten.",
        "fact does",
        "painting since User was ten",
    ),
    (
        "member_of",
        "I'm a member of a climbing club.",
        "User is a member of a climbing club.",
        "fact member_of",
        "climbing club",
    ),
    (
        "volunteers",
        "I volunteer at an animal shelter.",
        "User volunteers at an animal shelter.",
        "fact volunteers_at",
        "animal shelter",
    ),
    ("collects", "I collect old maps.", "User collects old maps.", "fact collects", "old maps"),
    ("routine", "I swim every morning.", "User swims every morning.", "fact routine", "swims every morning"),
    ("dislikes", "I hate loud restaurants.", "User hates loud restaurants.", "preference likes", "loud restaurants"),
    ("cannot_stand", "I can't stand coriander.", "User cannot stand coriander.", "preference likes", "coriander"),
    ("likes", "I love hiking in the Alps.", "User loves hiking in the Alps.", "preference likes", "hiking in the Alps"),
    ("fan_of", "I'm a big fan of jazz.", "User is a big fan of jazz.", "preference likes", "jazz"),
    (
        "interested_in",
        "I'm really into board games.",
        "User is into board games.",
        "preference interested_in",
        "board games",
    ),
    (
        "passion_for",
        "I have a passion for old cameras.",
        "User has a passion for old cameras.",
        "preference interested_in",
        "old cameras",
    ),
    ("prefers", "I prefer tea to coffee.", "User prefers tea to coffee.", "preference prefers", "tea to coffee"),
    ("diet", "I'm vegan.", "User is vegan.", "fact diet", "vegan"),
    ("consumes", "I drink green tea.", "User drinks green tea.", "fact consumes", "green tea"),
    ("speaks", "I speak Polish and German.", "User speaks Polish and German.", "fact speaks", "Polish and German"),
    ("can_do", "I can juggle.", "User can juggle.", "fact knows_skill", "juggle"),
    ("good_at", "I'm really good at chess.", "User is good at chess.", "fact good_at", "chess"),
    ("knows", "I know Rust.", "User knows Rust.", "fact knows_skill", "Rust"),
    ("plays", "I play the violin.", "User plays the violin.", "fact plays", "violin"),
    ("learning", "I'm learning Italian.", "User is learning Italian.", "fact learning", "Italian"),
    ("drives", "I drive a grey Skoda Fabia.", "User drives a grey Skoda Fabia.", "fact drives", "grey Skoda Fabia"),
    (
        "bought",
        "I bought a gravel bike yesterday.",
        "User bought a gravel bike yesterday.",
        "event bought",
        "gravel bike yesterday",
    ),
    ("owns", "I own a small boat.", "User owns a small boat.", "fact owns", "small boat"),
    ("uses", "I use Neovim for everything.", "User uses Neovim.", "fact uses", "Neovim"),
    ("sold", "I sold my old guitar.", "User sold their old guitar.", "event sold", "old guitar"),
    (
        "never_forgets",
        "I'll never forget the day we met.",
        "User will never forget the day User met.",
        "event remembers",
        "day User met",
    ),
    (
        "going_away",
        "We're going camping in the dunes.",
        "User is going camping in the dunes.",
        "event plans",
        "camping in the dunes",
    ),
    (
        "remembers",
        "I remember skating on the canal with my sister.",
        "User remembers skating on the canal with User's sister.",
        "event remembers",
        "skating on the canal with User's sister",
    ),
    ("cherishes", "I'll cherish that evening.", "User will cherish that evening.", "event remembers", "that evening"),
    (
        "trip",
        "I visited Kyoto last spring.",
        "User visited Kyoto last spring.",
        "event visited",
        "visited Kyoto last spring",
    ),
    (
        "achieved",
        "I won a poetry prize in May.",
        "User won a poetry prize in May.",
        "event achieved",
        "won a poetry prize in May",
    ),
    (
        "started",
        "I started a podcast about trains.",
        "User started a podcast about trains.",
        "event started",
        "started a podcast about trains",
    ),
    (
        "attended",
        "I hosted a dinner for twelve people.",
        "User hosted a dinner for twelve people.",
        "event attended",
        "hosted a dinner for twelve people",
    ),
    ("is_a", "I'm a physio in Kent.", "User is a physio.", "fact is_a", "physio"),
    ("will_not_eat", "Lena won't touch mushrooms.", "Lena will not touch mushrooms.", "fact consumes", "mushrooms"),
    (
        "saved_up",
        "I've put aside 2,200 pounds for a bike.",
        "User has put aside 2,200 pounds for a bike.",
        "fact saved_up",
        "2,200 pounds for a bike",
    ),
    ("is_in", "Lena is in York.", "Lena is in York.", "fact is_in", "York"),
    (
        "trade",
        "We make software for bakeries.",
        "User makes software for bakeries.",
        "fact trade",
        "software for bakeries",
    ),
    ("responsible_for_field", "Mira runs sales now.", "Mira runs sales.", "fact responsible_for", "sales"),
    (
        "shares_home",
        "I share a flat in Neudorf with Uma and Max.",
        "User shares a flat in Neudorf with Uma and Max.",
        "fact lives_with",
        "flat in Neudorf with Uma and Max",
    ),
]

# Each is one word away from a row, or says what a row takes without saying anything that lasts.
NEAR_MISSES = [
    "I'm allergic to that.",
    "I can't have it all.",
    "I'm taking the bus.",
    "I quit.",
    "I'm So tired.",
    "I live in fear.",
    "I moved on.",
    "I'm moving to the next slide.",
    "I live with it.",
    "I'm a bit confused.",
    "I'm a mess.",
    "I won't touch that.",
    "I can't take the bus.",
    "I saved the file.",
    "I'm a little bored.",
    "We make a lot of mistakes for nothing.",
    "Mira leads.",
    "I share a flat.",
    "I'm on the phone.",
    "I'm working on it.",
    "I got it.",
    "I'm studying it.",
    "I decided that.",
    "I'm thinking about it.",
    "I'd love to hear about it.",
    "I'd love to see them.",
    "I'm going to bed.",
    "I'll let you know.",
    "I'll check it out.",
    "I might.",
    "I have to go.",
    "I love it!",
    "I love how that looks.",
    "I love the way you put it.",
    "I hate this.",
    "I can't stand up.",
    "I'm into it.",
    "I prefer that.",
    "I know, right?",
    "I play it by ear.",
    "I'm learning a lot from you.",
    "I bought it.",
    "I use it.",
    "I'll never forget your help.",
    "I'm good at it.",
    "I'm fine.",
    "I'm so tired today.",
    "I'm glad to hear that.",
    "I think so.",
    "I agree with you.",
    "I told you about it.",
]


@pytest.mark.parametrize(("row", "text", "content", "triple", "value"), HITS, ids=[hit[0] for hit in HITS])
def test_row_takes_its_statement(row: str, text: str, content: str, triple: str, value: str) -> None:
    found = said(text)[0]
    assert (found.extractor, found.content) == (f"patterns:{row}", content)
    assert (f"{found.type} {found.predicate}", found.object.text) == (triple, value)


def test_every_row_is_in_the_table() -> None:
    assert {hit[0] for hit in HITS} == {row.name for row in PATTERNS}
    assert len(PATTERNS) == len({row.name for row in PATTERNS}) >= 40


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_near_miss_yields_nothing(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "content", "polarity"),
    [
        ("I like coffee.", "User likes coffee.", Polarity.POSITIVE),
        ("I don't like coffee.", "User does not like coffee.", Polarity.NEGATIVE),
        ("I can't stand coffee.", "User cannot stand coffee.", Polarity.NEGATIVE),
        ("I hate coffee.", "User hates coffee.", Polarity.NEGATIVE),
        ("I don't like coffee anymore.", "User no longer likes coffee.", Polarity.NEGATIVE),
        ("I'm not a fan of coffee.", "User is not a fan of coffee.", Polarity.NEGATIVE),
        ("I no longer live in Rome.", "User no longer lives in Rome.", Polarity.NEGATIVE),
        ("I don't work at Northwind anymore.", "User no longer works at Northwind.", Polarity.NEGATIVE),
        ("I never eat meat.", "User never eats meat.", Polarity.NEGATIVE),
        ("I stopped eating meat.", "User stopped eating meat.", Polarity.NEGATIVE),
        ("I'm not vegan.", "User is not vegan.", Polarity.NEGATIVE),
        ("I didn't like the film.", "User did not like the film.", Polarity.NEGATIVE),
    ],
)
def test_denials_keep_the_predicate_and_turn_its_polarity(text: str, content: str, polarity: Polarity) -> None:
    (found,) = said(text)
    assert (found.content, found.polarity) == (content, polarity)


def test_likes_and_dislikes_share_predicate_and_object() -> None:
    (liked,), (disliked,) = said("I love coffee."), said("I can't stand coffee.")
    assert (liked.predicate, liked.object.text) == (disliked.predicate, disliked.object.text) == ("likes", "coffee")


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("I'm moving to Lisbon in May.", SourceConfidence.DIRECT),
        ("I might move to Lisbon.", SourceConfidence.SPECULATED),
        ("Maybe I'm moving to Lisbon.", SourceConfidence.SPECULATED),
        ("I think I'm allergic to kiwi.", SourceConfidence.SPECULATED),
    ],
)
def test_hedges_are_speculation(text: str, source: SourceConfidence) -> None:
    assert said(text)[0].source_confidence is source


@pytest.mark.parametrize(
    ("text", "stateful"),
    [
        ("I live in Rome.", True),
        ("I work at Northwind.", True),
        ("My manager is Priya.", True),
        ("My favourite colour is blue.", True),
        ("I like blue.", False),
        ("I speak Polish.", False),
        ("My sister Lena called me yesterday.", False),
    ],
)
def test_statefulness_comes_with_the_predicate(text: str, stateful: bool) -> None:
    assert said(text)[0].stateful is stateful


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I use Neovim, not Vim.", ["User uses Neovim."]),
        ("Actually no, I drink tea, not coffee.", ["User drinks tea."]),
        ("No, I live in Rome, not Milan.", ["User lives in Rome."]),
    ],
)
def test_a_correction_states_the_new_value(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I'm a nurse at Charité and I live in Berlin.",
            ["User is a nurse.", "User works at Charité.", "User lives in Berlin."],
        ),
        (
            "I live in Munich now, but I used to live in Berlin.",
            ["User lives in Munich.", "User used to live in Berlin."],
        ),
        ("I'm vegetarian, can you suggest a dinner?", ["User is vegetarian."]),
        ("I like tea because it calms me.", ["User likes tea."]),
        ("i live in munich", ["User lives in Munich."]),
        ("Yesterday I bought a kayak.", ["User bought a kayak yesterday."]),
        ("After finishing school I moved to Oslo.", ["User lives in Oslo."]),
        ("Just moved to Lisbon!", ["User lives in Lisbon."]),
        (
            "I took the train to Bern and visited my aunt.",
            ["User took the train to Bern.", "User visited User's aunt."],
        ),
        ("I love yoga. It helps me relax.", ["User loves yoga.", "Yoga helps User relax."]),
    ],
)
def test_one_fact_a_memory(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
