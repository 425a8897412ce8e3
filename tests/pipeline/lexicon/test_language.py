"""A text is English unless more of its known words are of other languages, or it is in another script."""

import pytest

from apps.pipeline.lexicon.language import is_english


@pytest.mark.parametrize(
    "text",
    [
        "User lives in Bremen.",
        "User likes pasta al dente.",
        "User moved from Las Palmas to La Paz.",
        "User met 田中 at the station.",
        "Blorp.",
        "",
    ],
)
def test_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    ["User wohnt in Bremen.", "User habite à Lyon.", "User vive en Lima.", "User werkt niet.", "Она живёт в Риге."],
)
def test_other_languages(text: str) -> None:
    assert not is_english(text)
