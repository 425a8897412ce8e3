"""Hasty spelling: apostrophes and capitals that are left out."""

import pytest

from apps.pipeline.extraction.patterns.hasty_spelling import written_out
from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("im a nurse and ive got asthma", "I'm a nurse and I've got asthma"),
        ("shes ill, thats why i dont work", "she's ill, that's why I don't work"),
        ("my mums coming, my sisters are not", "my mum's coming, my sisters are not"),
        ("gareth is coeliac so no bread", "Gareth is coeliac so no bread"),
        ("mia lives in Leeds", "Mia lives in Leeds"),
        ("ill have to go", "I'll have to go"),
        ("The wife Carol is a cook", "my wife Carol is a cook"),
        ("I take for for it, and and with with my tea", "I take for it, and with my tea"),
        # What may be another word stays as it is.
        ("he moves in in May, I know that that is so", "he moves in in May, I know that that is so"),
        ("he is ill at home", "he is ill at home"),
        ("its tail and their id were lost", "its tail and their id were lost"),
        ("ich bin im Garten", "ich bin im Garten"),
        ("dinner is ready", "dinner is ready"),
        ("nginx works as a proxy", "nginx works as a proxy"),
        ("code works in prod", "code works in prod"),
        ("plan works at may", "plan works at may"),
        ("whoever lives in Berlin pays more", "whoever lives in Berlin pays more"),
        ("whatever lives in Berlin", "whatever lives in Berlin"),
        ("the file i/o is slow", "the file i/o is slow"),
        ("The wife in the novel dies", "The wife in the novel dies"),
    ],
)
def test_only_what_is_sure_is_written_out(said: str, written: str) -> None:
    assert written_out(said) == written


def test_hasty_sentences_are_read() -> None:
    assert contents("im allergic to nuts and my mums diabetic") == [
        "User is allergic to nuts.",
        "User's mum is diabetic.",
    ]
