"""Estimate the model calls, tokens and costs of a replay from the recorded calls of its traces."""

from typing import Any

from django.db.models import Count, F, Sum

from apps.actions.prompt_versions import prompt_versions
from apps.actions.replays.estimate import RecordedCalls, estimate
from apps.traces.models import ModelCall, Replay, ReplayedTrace, Trace
from apps.traces.policies import policy_of

_TOKENS = F("input_tokens") + F("cache_read_tokens") + F("cache_write_tokens") + F("output_tokens")


def estimate_replay(*, replay: Replay) -> dict[str, Any]:
    """Return the estimate as JSON; money is text."""
    traces = ReplayedTrace.objects.filter(replay=replay).values("trace_id")
    calls = ModelCall.objects.filter(trace_id__in=traces, error="").order_by()
    sums = calls.values("purpose", "prompt_version").annotate(
        calls=Count("id"), tokens=Sum(_TOKENS), cost=Sum("cost_usd")
    )
    versions = Trace.objects.filter(id__in=traces).order_by().values_list("configuration_id", flat=True).distinct()
    found = estimate(
        recorded=[
            RecordedCalls(row["purpose"], row["prompt_version"], row["calls"], row["tokens"], row["cost"])
            for row in sums
        ],
        prompts=prompt_versions(),
        policy=replay.configuration.as_policy() if replay.configuration else None,
        recorded_policies=[policy_of(version) for version in versions],
        traces=replay.traces_total,
    )
    return {
        "recorded_calls": found.recorded_calls,
        "new_calls_at_most": found.new_calls_at_most,
        "new_tokens_at_most": found.new_tokens_at_most,
        "new_cost_usd_at_most": str(found.new_cost_usd_at_most),
        "outdated_prompts": list(found.outdated_prompts),
    }
