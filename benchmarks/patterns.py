"""Precision and recall of the pattern extractor in finding turns with something worth remembering.

A turn of LoCoMo is relevant if an observation cites it, and found if the extractor proposes at least one candidate for
it. The content of candidates is not judged. `idle_turns` is the share of turns that are small talk, for which no model
would be called; `gold_idle` is the share of relevant turns among them.
"""

from pathlib import Path
from time import thread_time_ns
from uuid import UUID

from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.extractor import extract
from apps.pipeline.extraction.small_talk_filter import tells_something
from benchmarks.locomo_data import LocomoTurn, load

NAME = "patterns"
_NO_ID = UUID(int=0)


def run(*, data: Path, full: bool = False) -> dict[str, object]:
    """Return turn_precision, turn_recall and turn_f1, overall and per conversation, and CPU microseconds per turn.

    Raises FileNotFoundError if LoCoMo is missing.
    """
    conversations = load(data)
    policy = Policy().extraction
    # Patterns are compiled at first use, which must not count as the cost of a turn.
    for turn in (turn for conversation in conversations for turn in conversation.turns):
        extract(turn=_source(turn), policy=policy)
    outcomes: dict[str, tuple[int, int, int]] = {}
    idle = gold_idle = 0
    microseconds: list[float] = []
    candidates = 0
    for conversation in conversations:
        found = set()
        for before, turn in zip((None, *conversation.turns), conversation.turns, strict=False):
            started = thread_time_ns()
            extracted = extract(turn=_source(turn), policy=policy)
            microseconds.append((thread_time_ns() - started) / 1_000)
            candidates += len(extracted)
            if extracted:
                found.add(turn.id)
            elif not _tells(turn, before):
                idle += 1
                gold_idle += turn.id in conversation.observed
        outcomes[conversation.id] = (len(found & conversation.observed), len(found), len(conversation.observed))
    totals = [sum(column) for column in zip(*outcomes.values(), strict=True)]
    microseconds.sort()
    return {
        **_scores(*totals),
        "turns": len(microseconds),
        "candidates": candidates,
        "idle_turns": round(idle / len(microseconds), 4),
        "gold_idle": round(gold_idle / totals[2], 4) if totals[2] else 0.0,
        "cpu_us_p50": round(microseconds[len(microseconds) // 2], 1),
        "cpu_us_p99": round(microseconds[len(microseconds) * 99 // 100], 1),
        "by_conversation": {name: _scores(*counts) for name, counts in outcomes.items()},
    }


def _tells(turn: LocomoTurn, before: LocomoTurn | None) -> bool:
    is_heard = before is not None and before.session == turn.session
    return tells_something(_source(turn), before=_source(before) if before and is_heard else None)


def _source(turn: LocomoTurn) -> SourceTurn:
    moment = turn.said_at
    assert moment is not None, f"turn {turn.id} has no date"
    return SourceTurn(
        id=_NO_ID, position=0, role=Role.USER, content=turn.text, received_at=moment, speaker=turn.speaker
    )


def _scores(right: int, found: int, wanted: int) -> dict[str, float]:
    precision = right / found if found else 0.0
    recall = right / wanted if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {
        "turn_precision": round(precision, 4),
        "turn_recall": round(recall, 4),
        "turn_f1": round(f1, 4),
    }
