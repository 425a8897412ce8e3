"""Where a sentence ends: not at an abbreviation, an initial, a decimal or a version."""

import pytest

from apps.pipeline.extraction.patterns.sentences import Sentence, clauses_of, sentences_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I saw Dr. Voss today. She was kind.", ["I saw Dr. Voss today.", "She was kind."]),
        ("We live on St. James Road. It's loud.", ["We live on St. James Road.", "It's loud."]),
        ("I like citrus, e.g. Lemons and limes.", ["I like citrus, e.g. Lemons and limes."]),
        ("My bus is No. 5. It stops here.", ["My bus is No. 5.", "It stops here."]),
        ("I said no. I live in Rome.", ["I said no.", "I live in Rome."]),
        ("J. R. Hartley wrote it. I read it.", ["J. R. Hartley wrote it.", "I read it."]),
        ("My editor is John F. Doe. He's strict.", ["My editor is John F. Doe.", "He's strict."]),
        ("So do I. We moved.", ["So do I.", "We moved."]),
        ("I take vitamin D. It helps.", ["I take vitamin D.", "It helps."]),
        ("I run 5.5 km. It's fun.", ["I run 5.5 km.", "It's fun."]),
        ("We use Python 3.12. It works.", ["We use Python 3.12.", "It works."]),
        ("We use v2.0.1 of the API. It works.", ["We use v2.0.1 of the API.", "It works."]),
        ("I moved to the U.S. in May. It's big.", ["I moved to the U.S. in May.", "It's big."]),
        ("I get up at 6 a.m. every day. It's early.", ["I get up at 6 a.m. every day.", "It's early."]),
        ("I buy pens, paper, etc. They last.", ["I buy pens, paper, etc.", "They last."]),
        ("Mrs. Okafor vs. Mr. Lind was on. I watched.", ["Mrs. Okafor vs. Mr. Lind was on.", "I watched."]),
        ("I use Node.js and socket.io daily. Fine.", ["I use Node.js and socket.io daily.", "Fine."]),
        ("I work for Acme Inc. in Graz. It's fine.", ["I work for Acme Inc. in Graz.", "It's fine."]),
        ("I work for Acme Inc. My boss is nice.", ["I work for Acme Inc.", "My boss is nice."]),
        ("Due on Oct. 5. Not before.", ["Due on Oct. 5.", "Not before."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [each.text for each in sentences_of(text)] == expected


def test_a_noun_with_a_verb_of_its_own_continues_no_statement() -> None:
    (clause,) = clauses_of(Sentence(text="I use a Mac at home but work has me on Windows.", asks=False))
    assert "I work" not in clause
