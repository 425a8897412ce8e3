"""Models of conversations, traces, configuration and statistics: one module per subject."""

from apps.traces.models.configuration import ConfigurationVersion, PreFilterRule
from apps.traces.models.conversation import TURN_COLUMNS, IdempotentRequest, Session, Turn
from apps.traces.models.replay import Replay, ReplayedState, ReplayedTrace, ReplayState
from apps.traces.models.tally import HourlyLatency, HourlyTally, TalliedHour
from apps.traces.models.trace import ModelCall, ModelTestCall, Span, Trace

__all__ = [
    "TURN_COLUMNS",
    "ConfigurationVersion",
    "HourlyLatency",
    "HourlyTally",
    "IdempotentRequest",
    "ModelCall",
    "ModelTestCall",
    "PreFilterRule",
    "Replay",
    "ReplayState",
    "ReplayedState",
    "ReplayedTrace",
    "Session",
    "Span",
    "TalliedHour",
    "Trace",
    "Turn",
]
