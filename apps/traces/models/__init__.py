"""Models of conversations, traces, configuration and statistics: one module per subject."""

from apps.traces.models.configuration import ConfigurationVersion, PreFilterRule
from apps.traces.models.conversation import Session, Turn
from apps.traces.models.idempotency import IdempotentRequest
from apps.traces.models.model_test import ModelTestCall
from apps.traces.models.preview import PreviewState, RulePreview
from apps.traces.models.replay import Replay, ReplayedState, ReplayedTrace, ReplayState
from apps.traces.models.tally import HourlyLatency, HourlyTally, TalliedHour
from apps.traces.models.trace import ModelCall, Span, Trace

__all__ = [
    "ConfigurationVersion",
    "HourlyLatency",
    "HourlyTally",
    "IdempotentRequest",
    "ModelCall",
    "ModelTestCall",
    "PreFilterRule",
    "PreviewState",
    "Replay",
    "ReplayState",
    "ReplayedState",
    "ReplayedTrace",
    "RulePreview",
    "Session",
    "Span",
    "TalliedHour",
    "Trace",
    "Turn",
]
