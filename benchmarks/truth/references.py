"""Names of turns in recorded answers: a prompt shows a turn by its text, and a conversation knows it by its name."""

from collections.abc import Sequence
from functools import cache, partial

from apps.pipeline.core.model_calls import ModelRequest
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact
from apps.providers import shown_ids as shown
from benchmarks.truth.gold import GoldTurn

_LEAST_TEXT = 20  # characters of a turn that was cut


def shown_ids(request: ModelRequest, *, turns: Sequence[GoldTurn]) -> shown.ShownIds:
    """Read which ids a prompt shows; `turns` are those of the conversation, which the prompt shows by text alone."""
    return shown.shown_ids(request, name_of=partial(_name_of, turns=turns))


@cache
def _as_stored(text: str) -> str:
    """Return a turn's text as the product keeps it: without secrets."""
    return _plain(redact(text, policy=RedactionPolicy()).text)


def _name_of(text: str, attributes: str, *, turns: Sequence[GoldTurn]) -> str:
    """Return the name of a turn that is shown, possibly cut; of equal texts the one said at the shown time."""
    told = _plain(text)
    alike = [turn for turn in turns if _as_stored(turn.text) == told]
    if not alike and len(told) >= _LEAST_TEXT:
        alike = [turn for turn in turns if _is_left(told, of=_as_stored(turn.text))]
    timed = [turn for turn in alike if f"{turn.said_at:%Y-%m-%dT%H:%M}" in attributes]
    if not alike:
        raise ValueError(f"no turn of the conversation reads {told[:80]!r}")
    return (timed or alike)[0].id


def _is_left(told: str, *, of: str) -> bool:
    """Return True if a text is what is left of another one without some of its words."""
    words = iter(of.split())
    return all(word in words for word in told.removesuffix("…").split())


def _plain(text: str) -> str:
    return " ".join(text.split())
