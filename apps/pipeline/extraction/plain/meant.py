"""Which sentences their speaker means as they stand: no joke, no scene, nothing imagined, no secret."""

from collections.abc import Sequence

import re2

from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.core.placeholders import names_redacted_secret
from apps.pipeline.extraction.patterns.speech_act import goes_on_mocking, rolls_eyes, speech_act_of

# "If I get a rash, I have to call" is true; "if I had a rash, I would" is not.
_UNREAL = re2.compile(
    r"(?i)\bif (?:only|(?:i|we) (?:were|was|had|could|lived|worked|\w+ed)\b.*\b(?:would|'d|could|might)\b)|\b(?:i|we)(?: would|'d) .*\bif (?:i|we) (?:were|was|had|could|\w+ed)\b"
    r"|\b(?:i wish|wish i|as if i)\b"
)


def meant(sentences: Sequence[str]) -> tuple[bool, ...]:
    """Return for each sentence of a message whether it is meant."""
    before, after = ["", *sentences][:-1], [*sentences, ""][1:]
    return tuple(
        _is_meant(each) and not goes_on_mocking(each, before=last) and not rolls_eyes(each) and not rolls_eyes(following)
        for each, last, following in zip(sentences, before, after, strict=True)
    )


def _is_meant(sentence: str) -> bool:
    act, _ = speech_act_of(sentence)
    return act is SpeechAct.ASSERTED and not _UNREAL.search(sentence.replace("’", "'")) and not names_redacted_secret(sentence)
