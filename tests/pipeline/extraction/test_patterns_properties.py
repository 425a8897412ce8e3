"""Invariants for any text: no error, a verbatim quote, no first person, limited and deterministic."""

import re

from hypothesis import assume, example, given
from hypothesis import strategies as st

from apps.pipeline.extraction.patterns import extract
from apps.pipeline.provenance.own_words import claims_role
from tests.pipeline.builders import turn
from tests.pipeline.extraction.extract_helper import POLICY, said

_FIRST_PERSON = re.compile(r"(?<![\w'])(?:I|I'm|I've|I'll|me|my|myself|we|our|us)(?![\w'])")
_WORDS = st.sampled_from(
    [
        *"I I'm I've my we our me like love live in Rome at work my sister Lena and but because not don't".split(),
        *"never always went to bought a dog is was been years old if what pretend called named no longer 3".split(),
        *". , ! ? \" ' - … 😀".split(),
        "\n",
    ]
)
_SPEECH = st.lists(_WORDS, max_size=40).map(" ".join)


@given(st.one_of(st.text(max_size=400), _SPEECH))
@example("I" * 2_000)
@example("my " * 700)
@example("I am " * 500)
@example("\x00 I live in \x00 Rome.")
@example("I live in \ud800 Rome.")
@example("My I'm is 0")
@example("no, tea" + " " * 1_992 + "x")
@example("I moved from a to " * 110)
@example("My sister Lena, " * 120)
@example("my a is " * 250)
@example("I love yoga. It \\1 makes me happy.")
@example("I like \\1. It makes me happy.")
def test_any_text_yields_grounded_third_person_sentences(text: str) -> None:
    for found in said(text):
        assert found.evidence in text
        assert found.content.endswith(".")
        assert _FIRST_PERSON.search(found.content) is None
        assert found.subject.text in found.content
        assert all(mention.text in found.content for mention in found.mentions)
        assert found.predicate.isidentifier()
        assert len(found.content) < 1_000


@given(_SPEECH)
def test_the_same_text_yields_the_same_candidates_once(text: str) -> None:
    found = said(text)
    assert found == said(text)
    assert len({each.content.casefold() for each in found}) == len(found)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12))
def test_any_speaker_can_speak(name: str) -> None:
    assume(not claims_role(name))
    (found,) = extract(turn=turn("I live in Rome.", speaker=name), policy=POLICY)
    assert found.content == f"{name} lives in Rome."


def test_only_the_first_characters_are_read() -> None:
    assert said("x" * POLICY.max_turn_characters + ". I live in Rome.") == ()
