"""Speech acts of quotes: rules that lower the speech act given by a model, and never overrule a plain statement."""

import re
from collections.abc import Iterator
from itertools import pairwise

from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.extraction.llm.evidence import holds
from apps.pipeline.extraction.plain.own_sentences import sentences_in
from apps.pipeline.language.speech_act import goes_on_mocking, is_mockery, is_rhetorical, speech_act_of

# "I'm actually a nurse" is a correction; only before a request it is role play: "…, so explain it to me".
_CORRECTS = re.compile(r"\bI(?:'m| am) actually\b", re.IGNORECASE)
_GOES_ON_TO_ASK = re.compile(r",? so (?!(?:I|we|my|our|that)\b)|\?", re.IGNORECASE)


def speech_act_of_quote(quote: str, *, text: str) -> SpeechAct:
    """Return how the words of a turn are meant, as far as their sentence shows; ASSERTED where nothing does."""
    before, sentence = next(_sentences_with(quote, text), ("", quote))
    is_mocked = goes_on_mocking(sentence, before=before.replace("’", "'"))
    return SpeechAct.SARCASM if is_mocked else _meant(sentence.replace("’", "'"))


def _sentences_with(quote: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences that hold a quote, each with the one before it."""
    said = ["", *sentences_in(text)]
    return ((before, sentence) for before, sentence in pairwise(said) if holds((quote,), sentence))


def _meant(sentence: str) -> SpeechAct:
    if is_mockery(sentence):
        return SpeechAct.SARCASM
    ruled = speech_act_of(sentence)
    if ruled is SpeechAct.HYPOTHETICAL and is_rhetorical(sentence) and _CORRECTS.search(sentence):
        return SpeechAct.HYPOTHETICAL if _GOES_ON_TO_ASK.search(sentence) else SpeechAct.ASSERTED
    return ruled or SpeechAct.ASSERTED
