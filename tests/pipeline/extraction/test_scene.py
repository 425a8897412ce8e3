"""Scenes: words of a role over several turns are not extracted; after the scene the speaker's are."""

import pytest

from apps.pipeline.extraction.patterns import extract
from tests.pipeline.builders import turn
from tests.pipeline.extraction.extract_helper import POLICY

_OPENED = "Pretend I'm a pilot and you're the airline."


@pytest.mark.parametrize(
    ("earlier", "text", "expected"),
    [
        ([_OPENED], "I'm Captain Ray and I live in Singapore.", []),
        ([_OPENED, "Good morning."], "I live in Singapore.", []),
        ([_OPENED], "Ok stop, I'm me again. I live in Linz.", ["User lives in Linz."]),
        ([_OPENED, "Ok, stop. I'm me again."], "I live in Linz.", ["User lives in Linz."]),
        (["I'm a pilot."], "I live in Linz.", ["User lives in Linz."]),
    ],
)
def test_a_scene_lasts_until_it_is_closed(earlier: list[str], text: str, expected: list[str]) -> None:
    found = extract(turn=turn(text), policy=POLICY, before=tuple(map(turn, earlier)))
    assert [each.content for each in found] == expected
