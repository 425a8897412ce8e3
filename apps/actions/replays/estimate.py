"""What a replay may cost at most: how many of its prompts can have changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.pipeline.core.enums import ExtractorKind
from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.core.policy import Policy

# Sections of a policy that decide what is stored, and so what later prompts show.
DECIDING = ("pre_filter", "extraction", "resolution", "dedupe", "conflict", "judges", "confidence")
TOKENS_OF_A_CALL = 4_000  # where none is recorded: prompt tokens per turn, measured (README)


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """The recorded calls of one purpose and prompt version."""

    purpose: str
    prompt_version: str
    calls: int
    tokens: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class Estimate:
    """The calls of a replay: those that are recorded, and how many may have to be made anew."""

    recorded_calls: int
    new_calls_at_most: int
    new_tokens_at_most: int
    new_cost_usd_at_most: Decimal
    outdated_prompts: tuple[str, ...] = ()  # purposes whose prompt has changed since


def decides_equally(one: Policy, other: Policy) -> bool:
    """Return True if two policies store the same of the same turns."""
    return all(getattr(one, section) == getattr(other, section) for section in DECIDING)


def estimate(
    *,
    recorded: Sequence[RecordedCalls],
    prompts: Mapping[str, str],
    policy: Policy | None,
    recorded_policies: Collection[Policy],
    traces: int,
) -> Estimate:
    """Return the most that replaying traces may cost; `policy` None is each trace's own.

    One different decision changes what every later prompt shows, so that either nothing has to be asked again or all
    of it may have to be. Questions for the index are not asked: they change nothing that is stored.
    """
    asked = [each for each in recorded if each.purpose != Purpose.INDEX_QUESTIONS]
    outdated = {each.purpose for each in asked if prompts.get(each.purpose) != each.prompt_version}
    calls, tokens = sum(each.calls for each in asked), sum(each.tokens for each in asked)
    cost = sum((each.cost_usd for each in asked), start=Decimal(0))
    is_same = policy is None or all(decides_equally(policy, each) for each in recorded_policies)
    if is_same and not outdated:
        return Estimate(calls, 0, 0, Decimal(0))
    if policy is not None and _starts_asking(policy, recorded_policies):
        each_tokens, each_cost = (tokens // calls, cost / calls) if calls else (TOKENS_OF_A_CALL, Decimal(0))
        calls_then = max(calls, traces)
        return Estimate(calls, calls_then, calls_then * each_tokens, calls_then * each_cost, tuple(sorted(outdated)))
    if policy is not None and policy.extraction.extractor is ExtractorKind.PLAIN:
        return Estimate(calls, 0, 0, Decimal(0))
    return Estimate(calls, calls, tokens, cost, tuple(sorted(outdated)))


def _starts_asking(policy: Policy, recorded: Collection[Policy]) -> bool:
    """Return True if a policy asks a model where a recorded one has asked none."""
    by_plain = any(each.extraction.extractor is ExtractorKind.PLAIN for each in recorded)
    return by_plain and policy.extraction.extractor is not ExtractorKind.PLAIN
