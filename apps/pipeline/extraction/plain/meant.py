"""Which sentences their speaker means as they stand: no joke, no scene, nothing imagined, no secret."""

from collections.abc import Sequence

import re2

from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.core.placeholders import names_redacted_secret
from apps.pipeline.language.speech_act import goes_on_mocking, speech_act_of

# "If I get a rash, I have to call" is true; "if I had a rash, I would call" is not.
_PAST = r"(?:were|was|had|could|\w+ed)"
_UNREAL = re2.compile(
    rf"(?i)\bif only\b|\bif (?:i|we) {_PAST}\b.*\b(?:would|could|might|(?:i|we)'d)\b"
    rf"|\b(?:(?:i|we) would|(?:i|we)'d)\b.*\bif (?:i|we) {_PAST}\b|\b(?:i wish|wish i|as if i)\b"
)
# What takes back the sentence before it: "I'm off gluten as well. JOKE."
_TAKES_BACK = re2.compile(
    r"(?i)^\W*(?:(?:it's |that's |that was |only )?(?:a )?jok(?:e|ing)|(?:just |only |i'm )?kidding|jk)\b"
    r"|^\W*(?:not really|i wish|as if)\W*$|🙄"
)


def meant(sentences: Sequence[str]) -> tuple[bool, ...]:
    """Return for each sentence of a message whether it is meant."""
    before, after = ["", *sentences][:-1], [*sentences, ""][1:]
    return tuple(
        _is_meant(each) and not goes_on_mocking(each, before=last) and not _TAKES_BACK.search(following)
        for each, last, following in zip(sentences, before, after, strict=True)
    )


def _is_meant(sentence: str) -> bool:
    is_unreal = _UNREAL.search(sentence.replace("’", "'")) is not None
    is_taken_back = _TAKES_BACK.search(sentence) is not None
    is_asserted = speech_act_of(sentence) is SpeechAct.ASSERTED
    return is_asserted and not is_unreal and not is_taken_back and not names_redacted_secret(sentence)
