"""Speed of the pre-filter, share of small talk that it rejects, and share of content that it rejects wrongly.

Speed: the whole stage on requests of one turn with one earlier turn, with 100 rules: the first 80 default rules and 20
that an admin might write, of which four contain gaps (`.*`); and, as `us_p99_default`, with the default rules only.
Quality: the default rules on labelled utterances of the Schema-Guided Dialogue data (CC BY-SA 4.0), and on LoCoMo's
turns that an observation cites (CC BY-NC 4.0), each with the turns before it in its session.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from uuid import UUID

from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.policy import Policy, PreFilterPolicy, Rule
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter import pre_filter
from apps.pipeline.prefilter.default_rules import default_rules
from benchmarks.data import find
from benchmarks.locomo_data import Conversation, load

NAME = "prefilter"
UTTERANCES = "sgd_dev_acts.jsonl"
LOCOMO = "locomo_dev.json"
RULES = 100
SHIPPED_RULES = 80
RUNS = 3

_ORIGIN = Origin(project_id=UUID(int=1), end_user_id=UUID(int=2), session_id=UUID(int=3))
_RECEIVED = datetime(2024, 1, 1, tzinfo=UTC)


def run(*, data: Path | None, full: bool = False) -> dict[str, object]:
    """Return durations in microseconds, and shares from 0 to 1.

    Raises FileNotFoundError if a data file is missing.
    """
    utterances = [json.loads(line) for line in find(data, UTTERANCES).read_text(encoding="utf-8").splitlines()]
    conversations = load(find(data, LOCOMO))
    shipped = Policy(pre_filter=PreFilterPolicy(rules=default_rules()))
    hundred = Policy(pre_filter=PreFilterPolicy(rules=_hundred_rules()))
    runs = RUNS * 3 if full else RUNS
    return {
        **_times(_utterance_drafts(utterances, hundred), runs=runs, suffix=""),
        **_times(_utterance_drafts(utterances, shipped), runs=runs, suffix="_default"),
        "rules": RULES,
        "rules_default": len(default_rules()),
        **_dropped_by_label(utterances, shipped),
        **_dropped_of_locomo(conversations, shipped),
    }


def _hundred_rules() -> tuple[Rule, ...]:
    """Return default rules and rules that an admin might write."""
    topics = ("invoice", "standup", "ticket", "build", "deploy", "backlog", "sprint", "roster", "payroll", "parcel")
    searched = [rf"^{topic} (?:is )?(?:done|closed|green|ready)[.!]*$" for topic in topics]
    worded = [rf"\b(?:re)?open {topic} [a-z]{{2,5}}-\d+\b" for topic in topics[:6]]
    gapped = [rf"\b{topic}\b.{{0,30}}\bnever mind\b" for topic in topics[:4]]
    written = [*searched, *worded, *gapped]
    return default_rules()[:SHIPPED_RULES] + tuple(
        Rule(name=f"written_{place}", reason=Reason.PATTERN, pattern=pattern, order=10_000 + place)
        for place, pattern in enumerate(written[: RULES - SHIPPED_RULES])
    )


def _times(drafts: Sequence[Draft], *, runs: int, suffix: str) -> dict[str, float]:
    """Return the medians of p50 and p99 over all runs, after a first run that compiles rules and fills RE2's caches."""
    _timed(drafts)
    taken = [_timed(drafts) for _ in range(runs)]
    return {
        f"us_p50{suffix}": round(median(each[len(each) // 2] for each in taken), 1),
        f"us_p99{suffix}": round(median(each[len(each) * 99 // 100] for each in taken), 1),
    }


def _timed(drafts: Sequence[Draft]) -> list[float]:
    """Return the microseconds of each draft, sorted."""
    taken = []
    for draft in drafts:
        started = perf_counter_ns()
        pre_filter.run(draft)
        taken.append((perf_counter_ns() - started) / 1_000)
    return sorted(taken)


def _utterance_drafts(utterances: Iterable[dict[str, str]], policy: Policy) -> list[Draft]:
    """Return one draft per labelled utterance, with the previous turn of the assistant as context."""
    return [
        _draft(
            policy,
            turns=(_turn(2, Role.USER, each["text"]),),
            earlier=(_turn(1, Role.ASSISTANT, each["previous"]),) if each["previous"] else (),
        )
        for each in utterances
    ]


def _dropped_by_label(utterances: Sequence[dict[str, str]], policy: Policy) -> dict[str, float]:
    drafts = _utterance_drafts(utterances, policy)
    labels = Counter(each["label"] for each in utterances)
    dropped = Counter(
        each["label"] for each, draft in zip(utterances, drafts, strict=True) if pre_filter.run(draft).drops
    )
    share = {label: round(dropped[label] / total, 5) for label, total in labels.items()}
    return {
        "chatter_caught": share["chatter"],
        "content_dropped": share["content"],
        "other_dropped": share["other"],
    }


def _dropped_of_locomo(conversations: Iterable[Conversation], policy: Policy) -> dict[str, object]:
    turns = gold = dropped = gold_dropped = 0
    for conversation in conversations:
        for turn_ids, draft in _session_drafts(conversation, policy):
            lost = {turn_ids[drop.turn_id] for drop in pre_filter.run(draft).drops if drop.turn_id is not None}
            turns += len(turn_ids)
            dropped += len(lost)
            gold += len(conversation.observed.intersection(turn_ids.values()))
            gold_dropped += len(lost & conversation.observed)
    return {
        "gold_dropped": round(gold_dropped / gold, 5),
        "gold_turns": gold,
        "locomo_dropped": round(dropped / turns, 5),
    }


def _session_drafts(conversation: Conversation, policy: Policy) -> Iterator[tuple[dict[UUID, str], Draft]]:
    """Return one draft per session, with both people in the role user, and LoCoMo's ids by turn id."""
    for _, session in groupby(conversation.turns, key=lambda turn: turn.session):
        said = list(session)
        turns = tuple(_turn(place, Role.USER, each.text, each.speaker) for place, each in enumerate(said))
        yield {turn.id: each.id for turn, each in zip(turns, said, strict=True)}, _draft(policy, turns=turns)


def _draft(policy: Policy, *, turns: tuple[SourceTurn, ...], earlier: tuple[SourceTurn, ...] = ()) -> Draft:
    request = Request(trace_id=UUID(int=4), origin=_ORIGIN, turns=turns, earlier_turns=earlier)
    return Draft.start(request=request, policy=policy)


def _turn(place: int, role: Role, text: str, speaker: str = "") -> SourceTurn:
    return SourceTurn(
        id=UUID(int=place), position=place, role=role, content=text, received_at=_RECEIVED, speaker=speaker
    )
