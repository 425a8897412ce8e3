"""Everyday messages and what the plain extractor should make of them, written before its first run.

Each row has the message, the statements as "subject predicate object" ("not" in front of a denial), and whether the
message should be kept as a note.
"""

EVERYDAY: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    # What a newcomer tries.
    ("Hi, I'm Nadia and I live in Rotterdam.", ("User name Nadia", "User lives_in Rotterdam"), False),
    ("my name is Oskar, nice to meet you", ("User name Oskar",), False),
    ("I moved to Leeds in March.", ("User lives_in Leeds",), False),
    ("We're moving to Aarhus next summer.", ("User plans_to_move_to Aarhus next summer",), False),
    ("I work as a tram driver.", ("User works_as tram driver",), False),
    ("I'm a midwife at Saint Luke's.", ("User works_as midwife", "User works_at Saint Luke's"), False),
    ("I work for Zalando as a data analyst.", ("User works_at Zalando", "User works_as data analyst"), False),
    ("My husband's name is Piet.", ("User has_husband Piet",), False),
    ("my sister is called Amara", ("Amara sister_of User",), False),
    ("My son Jonas is 9.", ("Jonas age 9",), False),
    ("I've got two kids.", ("User has_children two kids",), False),
    ("We have a cat called Pickle.", ("Pickle cat_of User",), False),
    ("I love bouldering!", ("User likes bouldering",), False),
    ("I really don't like coriander.", ("not User likes coriander",), False),
    ("I hate early meetings", ("not User likes early meetings",), False),
    ("My favourite band is Mogwai.", ("User favourite_band Mogwai",), False),
    ("I'm vegetarian and I don't drink alcohol.", ("User diet vegetarian", "not User consumes alcohol"), False),
    ("Btw I'm allergic to shellfish.", ("User allergic_to shellfish",), False),
    ("My daughter is allergic to penicillin.", ("User's daughter allergic_to penicillin",), False),
    ("I'm lactose intolerant.", ("User intolerant_to lactose",), False),
    ("I speak Dutch and Turkish.", ("User speaks Dutch", "User speaks Turkish"), False),
    ("My birthday is on 14 October.", ("User birthday 14 October",), False),
    ("I'm 41 years old.", ("User age 41",), False),
    ("Always answer in metric units.", ("User wants_assistant_to answer in metric units",), False),
    ("Please never send me long lists.", ("not User wants_assistant_to send User long lists",), False),
    ("From now on, reply in Spanish please.", ("User reply_language Spanish",), False),
    ("Call me Nono.", ("User nickname Nono",), False),
    # Told in too many words for the table: a note.
    ("The boiler man is coming on the 4th because our heating has been out since Sunday.", (), True),
    ("After the accident I only ever cycle on the canal path, traffic gives me panic attacks.", (), True),
    ("Remember that the spare key is under the blue pot.", (), True),
    ("my boss wants the quarterly numbers every second Tuesday and she goes mad if they're late", (), True),
    # Nothing to keep.
    ("Can you explain what a mortgage is?", (), False),
    ("Do I live in a flood area?", (), False),
    ("If I lived in Rome I would eat pasta every day.", (), False),
    ("Imagine I'm a pirate.", (), False),
    ("Thanks, that was really helpful!", (), False),
    ("Translate: my name is Greta and I live in Ulm.", (), False),
    ('She said "I am vegan and I live in Oslo".', (), False),
    ("Oh great, another Monday. I just LOVE Mondays.", (), False),
    ("Write a short poem about autumn leaves.", (), False),
    ("How do I boil an egg?", (), False),
    # Somebody else's, or not as it looks.
    ("My sister is pregnant.", ("User's sister expecting pregnant",), False),
    ("My brother lives in Gdansk.", ("User's brother lives_in Gdansk",), False),
    ("I'm dying to see that film.", (), False),
    ("I live in fear of spiders.", (), True),
    ("I work in five minutes.", (), False),
)
