"""The words of the glossary as enums: the one spelling that code, API, database and console share."""

from apps.pipeline.core.enums.access import MemberRole, Role, Scope
from apps.pipeline.core.enums.alerts import AlertEvent, AlertKind, AlertState, DeliveryChannel, DeliveryState
from apps.pipeline.core.enums.choices import choices_of, values_of
from apps.pipeline.core.enums.evaluation import LABEL_VALUES, LabelValue, SampleKind
from apps.pipeline.core.enums.events import EventType
from apps.pipeline.core.enums.funnel import IndexState, Milestone, Outcome, Reason, SpanResult, Stage, TraceStatus
from apps.pipeline.core.enums.imports import ImportFormat, ImportState
from apps.pipeline.core.enums.links import LinkKind, LinkResolution, LinkStatus, RejectionReason
from apps.pipeline.core.enums.memory import (
    LIVE_STATUSES,
    EntityType,
    Grounding,
    MemoryType,
    Polarity,
    Precision,
    SourceConfidence,
    SpeechAct,
    Stakes,
    Status,
)
from apps.pipeline.core.enums.rollback import EntityChangeKind, LeftAlone, RollbackState
from apps.pipeline.core.enums.settings import (
    Batching,
    ExtractorKind,
    Handling,
    MemorySharing,
    OnModelFailure,
    SensitiveKind,
)
from apps.pipeline.core.enums.tags import (
    BINDING_TAGS,
    BUILT_IN_TAGS,
    CATEGORY_ALIASES,
    CONSTRAINT,
    CONVENTION,
    INFERRED,
    NOTE,
    PROCEDURE,
)
from apps.pipeline.core.enums.work import RUNS, PausedKind, WorkKind, WorkState

__all__ = [
    "BINDING_TAGS",
    "BUILT_IN_TAGS",
    "CATEGORY_ALIASES",
    "CONSTRAINT",
    "CONVENTION",
    "INFERRED",
    "LABEL_VALUES",
    "LIVE_STATUSES",
    "NOTE",
    "PROCEDURE",
    "RUNS",
    "AlertEvent",
    "AlertKind",
    "AlertState",
    "Batching",
    "DeliveryChannel",
    "DeliveryState",
    "EntityChangeKind",
    "EntityType",
    "EventType",
    "ExtractorKind",
    "Grounding",
    "Handling",
    "ImportFormat",
    "ImportState",
    "IndexState",
    "LabelValue",
    "LeftAlone",
    "LinkKind",
    "LinkResolution",
    "LinkStatus",
    "MemberRole",
    "MemorySharing",
    "MemoryType",
    "Milestone",
    "OnModelFailure",
    "Outcome",
    "PausedKind",
    "Polarity",
    "Precision",
    "Reason",
    "RejectionReason",
    "Role",
    "RollbackState",
    "SampleKind",
    "Scope",
    "SensitiveKind",
    "SourceConfidence",
    "SpanResult",
    "SpeechAct",
    "Stage",
    "Stakes",
    "Status",
    "TraceStatus",
    "WorkKind",
    "WorkState",
    "choices_of",
    "values_of",
]
