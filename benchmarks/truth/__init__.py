"""How true the store stays over conversations of weeks: what it keeps, replaces, repeats, finds and tells.

Each conversation of `conversations/` is replayed into a scratch project, exchange by exchange, once with the recorded
answers of a model and once without a model; then its questions are asked. Those of `conversations_without_answers/`
are read without a model, and judged apart. `judging.py` says what counts as right. Shares are over all
conversations; `detail` lists what was wrong, as texts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from django.test import override_settings

from apps.pipeline.core.enums import Batching
from apps.projects.services import create_project
from benchmarks.scratch import scratch_database
from benchmarks.truth.asking import BUDGETS, AskedJudgement, ask
from benchmarks.truth.by_hand import ByHand
from benchmarks.truth.faulty_answers import AnswerFault
from benchmarks.truth.gold import WITHOUT_ANSWERS, GoldConversation, load
from benchmarks.truth.judging import Judged, Judgements, StoreJudgement, judge, read_judgements
from benchmarks.truth.recorded_model import NAME as MODEL
from benchmarks.truth.recorded_model import RecordedAnswers, RecordedModel
from benchmarks.truth.replay import replay

NAME = "truth"
RECORDED = Path(__file__).resolve().parents[1] / "recorded"
_COUNTED = ("missed", "of_another_prompt")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One conversation, judged."""

    conversation: GoldConversation
    store: StoreJudgement
    asked: AskedJudgement
    calls: Counter[str]
    unknown_references: tuple[str, ...]
    given_up: int


def run(
    *,
    data: Path | None = None,
    full: bool = False,
    by_hand: Path | None = None,
    conversations: Sequence[str] = (),
    fault: str = "",
    posted: str = "",
) -> dict[str, object]:
    """Return the shares with a model and without one, in all, by half and by conversation.

    With `by_hand` a prompt without a recorded answer is written to that folder, and its answer recorded; without it
    such a prompt counts as `missed` and has an empty answer. With `fault`, an AnswerFault, every answer has that
    fault, and nothing is run without a model. With `posted`, a Batching, each exchange is posted by itself; recorded
    answers are to other prompts then, so that only the number of calls is a figure.

    Raises FileNotFoundError for an unknown conversation.
    """
    chosen, judgements = load(names=conversations), read_judgements()
    unanswered = () if by_hand or conversations or fault or posted else load(WITHOUT_ANSWERS)
    with scratch_database():
        with override_settings(MODEL=MODEL):
            models = [_recorded(each, by_hand, fault) for each in chosen]
            by_model = [_judged(each, judgements, model, posted) for each, model in zip(chosen, models, strict=True)]
        with override_settings(MODEL=""):
            without_model = [] if by_hand or fault or posted else [_judged(each, judgements, None) for each in chosen]
            blind = [_judged(each, judgements, None) for each in unanswered]
    return {
        **_figures(by_model),
        "fault": fault,
        "posted": posted,
        "recorded": {name: sum(each.calls[name] for each in by_model) for name in _COUNTED},
        "without_model": _figures(without_model),
        "blind": _figures(blind),
        "detail": {"with_model": _details(by_model), "without_model": _details([*without_model, *blind])},
    }


def _recorded(conversation: GoldConversation, by_hand: Path | None, fault: str) -> RecordedModel:
    return RecordedModel(
        turns=conversation.turns,
        answers=RecordedAnswers.read(RECORDED / f"{conversation.name}.jsonl"),
        by_hand=ByHand(by_hand, conversation.name) if by_hand else None,
        fault=AnswerFault(fault) if fault else None,
    )


def _judged(
    conversation: GoldConversation, judgements: Judgements, model: RecordedModel | None, posted: str = ""
) -> Judgement:
    mode = "model" if model else "plain"
    project = create_project(name=f"{conversation.name} {mode}", slug=f"{conversation.name}-{mode}".replace("_", "-"))
    replayed = replay(conversation, project=project, model=model, posted=Batching(posted) if posted else None)
    return Judgement(
        conversation=conversation,
        store=judge(conversation, replayed, judgements),
        asked=ask(conversation, replayed),
        calls=model.counts if model else Counter(),
        unknown_references=tuple(model.unknown_references) if model else (),
        given_up=replayed.given_up,
    )


def _figures(judged: Sequence[Judgement]) -> dict[str, object]:
    """Return the shares in all, by half and by conversation."""
    halves = sorted({each.conversation.half for each in judged})
    by_half = {half: [each for each in judged if each.conversation.half == half] for half in halves}
    return {
        **_shares(judged),
        "by_half": {half: _shares(group) for half, group in by_half.items()},
        "by_conversation": {each.conversation.name: _shares([each]) for each in judged},
    }


def _shares(judged: Sequence[Judgement]) -> dict[str, float | int | None]:
    exchanges = sum(len(each.conversation.exchanges) for each in judged)
    return {
        **{name: _share(judged, name) for name in ("precision", "recall", "health_recall", "superseded_needed")},
        "superseded_wrongly": sum(each.store.superseded_wrongly for each in judged),
        "repeats_stored_twice": _share(judged, "repeats_stored_twice"),
        "top1": _sum(each.asked.top1 for each in judged).share,
        "top3": _sum(each.asked.top3 for each in judged).share,
        **{f"context_right_{size}": _sum(each.asked.context_right[size] for each in judged).share for size in BUDGETS},
        "calls_per_turn": round(sum(each.calls["calls"] for each in judged) / exchanges, 3) if exchanges else None,
    }


def _share(judged: Sequence[Judgement], name: str) -> float | None:
    return _sum(getattr(each.store, name) for each in judged).share


def _sum(shares: Iterable[Judged]) -> Judged:
    return sum(shares, start=Judged())


def _details(judged: Sequence[Judgement]) -> dict[str, object]:
    """Return by conversation what one could mend: counts, and the texts behind them."""
    details: dict[str, object] = {}
    for each in judged:
        told = asdict(each.store) | asdict(each.asked)
        details[each.conversation.name] = {
            **{name: f"{value['count']}/{value['of']}" if _is_share(value) else value for name, value in told.items()},
            "calls": dict(each.calls),
            "unknown_references": each.unknown_references,
            "given_up": each.given_up,
        }
    return details


def _is_share(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {each.name for each in fields(Judged)}
