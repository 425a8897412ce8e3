"""The bodies and answers of the REST API, written by scripts/client_models.py from its OpenAPI document."""

from typing import Any, Literal, NotRequired, TypedDict


class AcknowledgeBody(TypedDict):
    """A note for the others who read the alert."""

    note: NotRequired[str]


class ActivationBody(TypedDict):
    """The draft to activate, and the active version that the caller has read."""

    draft: int
    version: int


ActorKind = Literal["command", "key", "person", "system", "trace", "unknown"]


class ActorResponse(TypedDict):
    """Who has done something: a person in the console, a key, a trace, a management command, or the server by
    itself.

    `id` is that of the key (`key_…`) or trace (`trc_…`), or the number of the person (`elsewhere-7` if loaded);
    null for the others.
    """

    kind: "ActorKind"
    id: str | None


class AdjustmentResponse(TypedDict):
    """A value that was taken otherwise than it was sent, by its JSON pointer."""

    pointer: str
    message: str


class Agreement(TypedDict):
    """Cohen's kappa of the two labellers who share the most items; None if all labels are the same."""

    labellers: list[str]
    items: int
    kappa: float | None


class AlertList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["AlertResponse"]


class AlertRecipientsBody(TypedDict):
    """Who is told about alerts; an empty `webhook_url` is no webhook. `renew_secret` replaces the webhook's secret.

    `webhook_secret` is returned only once, when it is made; else it is null.
    """

    webhook_url: NotRequired[str]
    mail_addresses: NotRequired[list[str]]
    renew_secret: NotRequired[bool]


class AlertRecipientsResponse(TypedDict):
    """Who is told about alerts; an empty `webhook_url` is no webhook. `renew_secret` replaces the webhook's secret.

    `webhook_secret` is returned only once, when it is made; else it is null.
    """

    webhook_url: str
    mail_addresses: list[str]
    webhook_secret: str | None


class AlertResponse(TypedDict):
    """An alert: what is wrong, what it costs, and what mends it. `figures` are those of `last_seen_at`."""

    id: str
    kind: "ProblemCode"
    subject: str
    status: "AlertState"
    cause: str
    cost: str
    remedy: str
    figures: dict[str, Any]
    opened_at: str
    last_seen_at: str
    acknowledged_at: str | None
    acknowledged_by: "ActorResponse | None"
    note: str | None
    resolved_at: str | None


AlertState = Literal["acknowledged", "open", "resolved"]


class BatchBody(TypedDict):
    """Memories of one end user to store, each as in POST /v1/memories."""

    user_id: str
    memories: list[dict[str, Any]]


class BulkItemResponse(TypedDict):
    """What became of one item: the memory, or the code and the errors because of which nothing was done for it.

    Pointers lead into the item.
    """

    index: int
    memory_id: str | None
    code: str | None
    detail: str
    errors: list["FieldError"]


class BulkResponse(TypedDict):
    """What became of each item, in the order of the request."""

    done: int
    refused: int
    results: list["BulkItemResponse"]


class ChangedMemoryResponse(TypedDict):
    """A memory that a rollback would change: its status now and then, and the names of the fields that change."""

    memory_id: str
    user_id: str
    content: str
    status: "Status"
    becomes: "Status"
    fields: list[str]


class ClearOperationBody(TypedDict):
    """Delete all items below a namespace."""

    operation: Literal["clear"]
    namespace_prefix: list[str]


class ConfigurationBody(TypedDict):
    """Settings to change, by section as in the response; what is left out stays as it is, and a list is replaced.

    `version` is the active version that the caller has read. A `draft` is not used until it is activated: a
    replay shows what it would change.
    """

    version: int
    settings: dict[str, Any]
    note: NotRequired[str]
    draft: NotRequired[bool]


class ConfigurationResponse(TypedDict):
    """A version of the settings of the project; versions never change."""

    version: int
    is_active: bool
    settings: dict[str, Any]
    note: str
    created_at: str
    activated_at: str | None


class ContextBody(TypedDict):
    """The purpose of a context block and its token budget.

    Memories with a score of at least `min_score` for the query come first; without it, the setting of the project
    holds. `agent_id`, `app_id` and `run_id` select as in a search.
    """

    agent_id: NotRequired[str | None]
    app_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    user_id: str
    query: NotRequired[str]
    token_budget: NotRequired[int]
    stakes: NotRequired["Stakes"]
    min_score: NotRequired[float | None]


class ContextResponse(TypedDict):
    """Text for an agent's prompt; empty if nothing is known. `omitted` counts memories that exceeded the budget."""

    context: str
    tokens: int
    memory_ids: list[str]
    omitted: int


class CreatedKeyResponse(TypedDict):
    """A new API key. `key` is returned only once; it is null in the response to a repeated request."""

    id: str
    name: str
    prefix: str
    scopes: list["Scope"]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    key: str | None


class CurrentKeyResponse(TypedDict):
    """The API key of the request, its project, and whether agents share their memories there."""

    id: str
    name: str
    prefix: str
    scopes: list["Scope"]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    project_id: str
    memory_sharing: "MemorySharing"


class DayStatsResponse(TypedDict):
    """Counts of one day with accepted turns.

    Model answers that were empty, truncated, unparsable or refused are counted separately; `invalid_objects`
    counts objects within answers that were not valid memories. `cache_hit_share` is the share of prompt tokens
    that the provider read from its cache, from 0 to 1.
    """

    day: str
    traces: int
    rejected: int
    extraction_failed: int
    dead: int
    turns: int
    candidates: int
    stored: int
    merged: int
    superseded: int
    pending_review: int
    discarded: int
    model_calls: int
    model_errors: int
    empty_answers: int
    truncated_answers: int
    unparsable_answers: int
    refused_answers: int
    invalid_objects: int
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    cache_hit_share: float
    cost_usd: str


class DeleteOperationBody(TypedDict):
    """Delete an item, if there is one."""

    operation: Literal["delete"]
    namespace: list[str]
    key: str


class DeletedResponse(TypedDict):
    """How many turns and memories were deleted, and with a session how many items."""

    turns: int
    memories: int
    items: int


class DeliveryList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["DeliveryResponse"]


class DeliveryResponse(TypedDict):
    """A delivery of an event, or of a test, whose `event_id` is null."""

    id: str
    event_id: str | None
    event_type: str
    status: "DeliveryState"
    attempts: int
    next_try_at: str | None
    response_status: int | None
    duration_ms: int | None
    last_error: str | None
    created_at: str
    finished_at: str | None


DeliveryState = Literal["delivered", "failed", "waiting"]


class DrawnSamplesResponse(TypedDict):
    """The samples that were drawn: of memories, of turns, or both."""

    results: list["SampleResponse"]


class EndSessionBody(TypedDict):
    """The user whose session ends; the URL names the session."""

    user_id: str


class EntityDetailResponse(TypedDict):
    """An entity with its facts: up to 200 live memories about it, most recently said first."""

    id: str
    user_id: str
    name: str
    type: "EntityType"
    is_user: bool
    aliases: list[str]
    mention_count: int
    last_mentioned_at: str
    merged_into: str | None
    facts: list["MemoryResponse"]


class EntityList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["EntityResponse"]


class EntityMergeBody(TypedDict):
    """The entity to merge into."""

    into: str


class EntityReference(TypedDict):
    """An entity that a memory refers to."""

    id: str
    name: str
    type: "EntityType"


class EntityResponse(TypedDict):
    """A person, organisation, place or thing, with all its names."""

    id: str
    user_id: str
    name: str
    type: "EntityType"
    is_user: bool
    aliases: list[str]
    mention_count: int
    last_mentioned_at: str
    merged_into: str | None


EntityType = Literal["animal", "event", "organisation", "other", "person", "place", "product", "project"]


class ErasureResponse(TypedDict):
    """The receipt of an erasure; `deleted` counts the rows by table."""

    id: str
    status: "ErasureStatus"
    deleted: dict[str, int]
    requested_at: str
    finished_at: str | None


ErasureStatus = Literal["done", "running"]


class EvaluationFigures(TypedDict):
    """The figures of a set of labelled items and the turns that they were drawn from."""

    precision: "Share"
    recall: "RecallEstimate"
    missed: "Share"
    zero_extraction: "Share"
    agreement: dict[str, "Agreement"]
    failures: dict[str, int]


class EvaluationResponse(TypedDict):
    """Figures of the last weeks in total and by week, configuration version, model and memory type.

    Shares have the limits of 95 % confidence. A turn with nothing stored has neither model nor memory type, so
    that recall is given in total, by week and by version. `warnings` are about the latest week with labels.
    `retrieval` is about the memories that agents were told for the first time in as many weeks, 30 days earlier.
    """

    total: "EvaluationFigures"
    weeks: dict[str, "EvaluationFigures"]
    versions: dict[str, "EvaluationFigures"]
    models: dict[str, "EvaluationFigures"]
    memory_types: dict[str, "EvaluationFigures"]
    warnings: list["EvaluationWarning"]
    retrieval: "RetrievalFigures"


class EvaluationWarning(TypedDict):
    """A figure that misses its target; `is_alert` if it is so far off that somebody has to look at it now."""

    figure: "Figure"
    value: float
    limit: float
    is_alert: bool


class EventList(TypedDict):
    """Events, oldest first. Read on with `after` = `next_after`; `last_number` is that of the project's last event."""

    results: list["EventResponse"]
    next_after: int
    last_number: int


class EventLogBody(TypedDict):
    """Whether the events of the project are recorded, and the number of the last one."""

    is_on: bool


class EventLogResponse(TypedDict):
    """Whether the events of the project are recorded, and the number of the last one."""

    is_on: bool
    last_number: int


class EventResponse(TypedDict):
    """An event. `id` is the same in every delivery of it; `number` counts the events of the project from 1.

    `data` holds identifiers, states and numbers; with `includes_content` also the sentence of a memory that is
    active and told to all agents.
    """

    id: str
    number: int
    type: "EventType"
    timestamp: str
    data: dict[str, Any]


EventType = Literal[
    "memory.archived",
    "memory.created",
    "memory.deleted",
    "memory.merged",
    "memory.rejected",
    "memory.restored",
    "memory.retracted",
    "memory.superseded",
    "memory.updated",
    "review.decided",
    "review.needed",
    "trace.failed",
    "trace.finished",
    "user.erased",
]


class ExplanationResponse(TypedDict):
    """How a result was scored.

    `parts` compare the memory with the others; their sum is its relevance. `evidence` has the shares of the
    query's words and meaning that the memory itself has. The score is the relevance, lowered where there is
    little evidence.
    """

    parts: dict[str, float]
    evidence: dict[str, float]


FailedStatus = Literal["dead", "extraction_failed"]


class FieldError(TypedDict):
    """One invalid value: `pointer` is a JSON pointer into the body, `parameter` the name of a parameter or header."""

    message: str
    pointer: NotRequired[str]
    parameter: NotRequired[str]


Figure = Literal["precision", "recall", "zero_extraction"]


class FoundMemoryResponse(TypedDict):
    """A memory in short, with its `score`: how much it has to do with the query, from 0 (nothing) to 1.

    Scores are comparable between queries, and results are in their order. `unverified` memories await review.
    `disputed` memories contradict those in `contradicted_by`: nobody has settled it yet, or both were said to be
    true, and their periods overlap. A `past_plan` was told before its day, which is over: nobody has said that it
    happened.
    """

    id: str
    content: str
    type: "MemoryType"
    said_at: str
    score: float
    tags: list[str]
    metadata: dict[str, Any]
    version: int
    unverified: bool
    past_plan: bool
    disputed: bool
    user_id: NotRequired[str]
    status: NotRequired["Status"]
    subject: NotRequired["EntityReference | None"]
    predicate: NotRequired[str]
    object: NotRequired[dict[str, Any]]
    object_text: NotRequired[str]
    polarity: NotRequired["Polarity"]
    stateful: NotRequired[bool]
    topic: NotRequired[str]
    agent_id: NotRequired[str | None]
    app_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    further_sources: NotRequired[list["SourceResponse"]]
    private_to: NotRequired[str | None]
    language: NotRequired[str]
    event_at: NotRequired[str | None]
    event_precision: NotRequired[str]
    valid_from: NotRequired[str]
    valid_until: NotRequired[str | None]
    superseded_by: NotRequired[str | None]
    expires_at: NotRequired[str | None]
    confidence: NotRequired[float]
    confidence_parts: NotRequired[dict[str, float | None]]
    source_confidence: NotRequired["SourceConfidence"]
    grounding: NotRequired["Grounding"]
    speech_act: NotRequired["SpeechAct"]
    importance: NotRequired[float]
    recurrence: NotRequired[int]
    review_reasons: NotRequired[list[str]]
    role: NotRequired["Role"]
    extractor: NotRequired[str]
    evidence: NotRequired[str]
    trace_id: NotRequired[str | None]
    session_id: NotRequired[str | None]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    contradicted_by: NotRequired[list[str]]
    explanation: NotRequired["ExplanationResponse"]


class GetOperationBody(TypedDict):
    """Read an item."""

    operation: Literal["get"]
    namespace: list[str]
    key: str
    refresh_ttl: NotRequired[bool]


Grounding = Literal["not_supported", "partial", "supported", "unknown"]


class HistoryResponse(TypedDict):
    """The current memory and its changes, oldest first."""

    memory: "MemoryResponse"
    versions: list["VersionResponse"]


class ImportBody(TypedDict):
    """A file to import. Without `format` it is recognised.

    `user_id` is the end user of what the file names none for; `users` gives a user_id for a name in the file: an
    account of an export, or a user_id of another product.
    """

    file_name: str
    format: NotRequired["ImportFormat | None"]
    user_id: NotRequired[str | None]
    users: NotRequired[dict[str, str]]


ImportFormat = Literal["chat", "chatgpt", "claude", "jsonl", "mem0", "memories", "zep"]


class ImportList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["ImportResponse"]


class ImportProblemResponse(TypedDict):
    """A place of the file that is not imported, and why."""

    at: str
    reason: str


class ImportResponse(TypedDict):
    """An import: what its check has found, and how far it is.

    `chunks_done` of `chunks_total` are imported. `problems` are the first ones of `counts.problems`.
    """

    id: str
    status: "ImportState"
    file_name: str
    format: "ImportFormat | None"
    user_id: str
    size: int
    has_file: bool
    counts: dict[str, Any]
    problems: list["ImportProblemResponse"]
    chunks_total: int
    chunks_done: int
    done: dict[str, int]
    wait_reason: str
    error: str
    created_at: str
    started_at: str | None
    finished_at: str | None


ImportState = Literal["cancelled", "checked", "checking", "done", "failed", "running", "uploading", "waiting"]

IndexState = Literal["done", "failed", "pending"]


class ItemBody(TypedDict):
    """An item to store in place of the one that the key has.

    `user_id` says whose data it is: it is exported and erased with this end user, and deleted with the session of
    the end user that `session_id` names, which needs a `user_id`. Sensitive values are replaced as the project's
    policy says, unless its setting `redaction.items` is off. `text` holds the words by which a query finds it;
    without it these are all texts of the value, and with "" none. It expires `ttl_minutes` after the last access.
    With `expected_version`, the key must have an item of this version, or with 0 none.
    """

    namespace: list[str]
    key: str
    value: dict[str, Any]
    user_id: NotRequired[str | None]
    session_id: NotRequired[str | None]
    text: NotRequired[str | None]
    ttl_minutes: NotRequired[float | None]
    expected_version: NotRequired[int | None]


class ItemList(TypedDict):
    """Found items."""

    results: list["ItemResponse"]


class ItemOperationsBody(TypedDict):
    """Operations that are carried out together or not at all."""

    operations: list[
        "GetOperationBody | SearchOperationBody | NamespacesOperationBody | PutOperationBody | DeleteOperationBody | ClearOperationBody | PopOperationBody"
    ]


ItemOrder = Literal["newest", "oldest", "updated"]


class ItemOutcomeResponse(TypedDict):
    """What came of an operation: the item that was read, stored or taken, found items, namespaces, deleted items."""

    item: "ItemResponse | None"
    items: "list[ItemResponse] | None"
    namespaces: list[list[str]] | None
    deleted: int | None


class ItemOutcomesResponse(TypedDict):
    """What came of each operation, in their order."""

    results: list["ItemOutcomeResponse"]


class ItemResponse(TypedDict):
    """An item. `score` rates its words against the query of a search."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    version: int
    user_id: str | None
    session_id: str | None
    created_at: str
    updated_at: str
    expires_at: str | None
    score: float | None


class ItemSearchBody(TypedDict):
    """What to find below a namespace.

    `filter` maps fields of the value to what they hold: a value, an object of further fields, or operators
    (`$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`). With a `query`, items with its words come before the others,
    best first.
    """

    namespace_prefix: NotRequired[list[str]]
    filter: NotRequired[dict[str, Any]]
    query: NotRequired[str]
    user_id: NotRequired[str | None]
    order: NotRequired["ItemOrder"]
    limit: NotRequired[int]
    offset: NotRequired[int]
    refresh_ttl: NotRequired[bool]


class KeyBody(TypedDict):
    """An API key without its secret."""

    name: str
    scopes: list["Scope"]
    expires_at: NotRequired[str | None]


class KeyList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["KeyResponse"]


class KeyResponse(TypedDict):
    """An API key without its secret."""

    id: str
    name: str
    prefix: str
    scopes: list["Scope"]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class LabelBody(TypedDict):
    """What the caller says about an item, in place of what it said before.

    A memory is `good` if it is true, current and useful for a plausible later query, else `untrue`, `outdated` or
    `useless`: the first quality that it lacks. A turn contains `something` worth remembering or `nothing`. What
    the caller can't tell is `skipped`.
    """

    value: "LabelValue"


class LabelResponse(TypedDict):
    """A label: person or key, and what it says."""

    labeller: "ActorResponse"
    value: "LabelValue"
    remembered_memory_id: str | None
    labelled_at: str


LabelValue = Literal["good", "nothing", "outdated", "skipped", "something", "untrue", "useless"]

LeftAlone = Literal[
    "built_upon", "edited", "repeated", "rolled_back_since", "run_again", "said_again", "said_elsewhere"
]


class LeftAloneResponse(TypedDict):
    """A memory that is left alone, as a whole or in part; `force` takes it back all the same if `can_be_forced`.

    With the reason `repeated`, `trace_id` names a trace instead: its turn was rejected because it repeats one
    that is taken back.
    """

    reason: "LeftAlone"
    can_be_forced: bool
    user_id: str
    memory_id: str | None
    content: str
    status: "Status | None"
    trace_id: str | None


class LinkDetailResponse(TypedDict):
    """Two memories that contradict each other or may be duplicates; `resolution` is null while the link is open."""

    id: str
    user_id: str
    kind: "LinkKind"
    status: "LinkStatus"
    resolution: str | None
    from_memory: "MemoryResponse"
    to_memory: "MemoryResponse"
    created_at: str
    settled_at: str | None


LinkKind = Literal["contradicts", "possible_duplicate"]


class LinkList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["LinkDetailResponse"]


LinkResolution = Literal["both", "changed", "kept_from", "kept_to", "merged", "unrelated"]


class LinkResponse(TypedDict):
    """A link to another memory that contradicts this one or may duplicate it."""

    id: str
    kind: "LinkKind"
    status: "LinkStatus"
    memory_id: str


LinkStatus = Literal["open", "settled"]


class LivenessResponse(TypedDict):
    """The process is running."""

    status: "ServiceStatus"


class MemoriesBody(TypedDict):
    """Memories of one end user to store."""

    user_id: str
    memories: list["MemoryBody"]


class MemoryBody(TypedDict):
    """A memory to store as given. Omitted fields get defaults."""

    agent_id: NotRequired[str | None]
    app_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    type: "TypeEnum"
    content: str
    subject: NotRequired["NameBody | str | None"]
    predicate: NotRequired[str | None]
    object: NotRequired["ObjectBody | None"]
    polarity: NotRequired["Polarity"]
    stateful: NotRequired[bool | None]
    topic: NotRequired[str | None]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any] | None]
    language: NotRequired[str]
    event_at: NotRequired[str | None]
    event_precision: NotRequired["Precision | None"]
    said_at: NotRequired[str | None]
    valid_from: NotRequired[str | None]
    valid_until: NotRequired[str | None]
    expires_at: NotRequired[str | None]
    superseded_by: NotRequired[str | None]
    status: NotRequired["Status | None"]
    confidence: NotRequired[float | None]
    source_confidence: NotRequired["SourceConfidence"]
    grounding: NotRequired["Grounding"]
    speech_act: NotRequired["SpeechAct"]
    importance: NotRequired[float]
    session_id: NotRequired[str | None]
    evidence: NotRequired[str | None]
    context: NotRequired[str | None]
    extractor: NotRequired[str]


class MemoryDetailResponse(TypedDict):
    """A memory with its source turns and its links to other memories."""

    id: str
    user_id: str
    version: int
    status: "Status"
    type: "MemoryType"
    content: str
    subject: "EntityReference | None"
    predicate: str
    object: dict[str, Any]
    object_text: str
    polarity: "Polarity"
    stateful: bool
    topic: str
    tags: list[str]
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any]
    further_sources: list["SourceResponse"]
    private_to: str | None
    language: str
    event_at: str | None
    event_precision: str
    said_at: str
    valid_from: str
    valid_until: str | None
    superseded_by: str | None
    expires_at: str | None
    confidence: float
    confidence_parts: dict[str, float | None]
    source_confidence: "SourceConfidence"
    grounding: "Grounding"
    speech_act: "SpeechAct"
    importance: float
    recurrence: int
    review_reasons: list[str]
    role: "Role"
    extractor: str
    evidence: str
    trace_id: str | None
    session_id: str | None
    created_at: str
    updated_at: str
    origins: list["OriginResponse"]
    links: list["LinkResponse"]


class MemoryList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["MemoryResponse"]


class MemoryResponse(TypedDict):
    """A memory. `confidence_parts` add up to `confidence`, limited to the range from 0 to its cap.

    `agent_id`, `app_id`, `run_id` and `metadata` are those of the request that told it first; `further_sources`
    has the others. `private_to` is the agent that alone is told of it; null: all agents of the user are.
    """

    id: str
    user_id: str
    version: int
    status: "Status"
    type: "MemoryType"
    content: str
    subject: "EntityReference | None"
    predicate: str
    object: dict[str, Any]
    object_text: str
    polarity: "Polarity"
    stateful: bool
    topic: str
    tags: list[str]
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any]
    further_sources: list["SourceResponse"]
    private_to: str | None
    language: str
    event_at: str | None
    event_precision: str
    said_at: str
    valid_from: str
    valid_until: str | None
    superseded_by: str | None
    expires_at: str | None
    confidence: float
    confidence_parts: dict[str, float | None]
    source_confidence: "SourceConfidence"
    grounding: "Grounding"
    speech_act: "SpeechAct"
    importance: float
    recurrence: int
    review_reasons: list[str]
    role: "Role"
    extractor: str
    evidence: str
    trace_id: str | None
    session_id: str | None
    created_at: str
    updated_at: str


MemorySharing = Literal["by_agent", "shared"]

MemoryType = Literal["entity", "event", "fact", "preference", "relation"]

Milestone = Literal["ended", "indexed"]

Mode = Literal["async", "sync"]


class ModelCallResponse(TypedDict):
    """A model call; `latency_us` is in microseconds, `cost_usd` in US dollars."""

    purpose: str
    model: str
    prompt_version: str
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    latency_us: int
    cost_usd: str
    error: str
    answer_kind: str
    invalid_objects: int


class NameBody(TypedDict):
    """An entity by name, created if it is new. "User" is the end user."""

    name: str
    type: NotRequired["EntityType"]


class NamespaceList(TypedDict):
    """Namespaces with items, sorted."""

    results: list[list[str]]


class NamespacesBody(TypedDict):
    """Which namespaces to list; a label `*` of prefix or suffix stands for any. Deeper ones are cut at `max_depth`."""

    prefix: NotRequired[list[str]]
    suffix: NotRequired[list[str]]
    max_depth: NotRequired[int | None]
    limit: NotRequired[int]
    offset: NotRequired[int]


class NamespacesOperationBody(TypedDict):
    """List namespaces."""

    prefix: NotRequired[list[str]]
    suffix: NotRequired[list[str]]
    max_depth: NotRequired[int | None]
    limit: NotRequired[int]
    offset: NotRequired[int]
    operation: Literal["list_namespaces"]


class ObjectBody(TypedDict):
    """The object of a triple: exactly one of the three fields."""

    literal: NotRequired[str | None]
    entity: NotRequired["NameBody | str | None"]
    list: NotRequired[list[str] | None]


class OriginResponse(TypedDict):
    """A turn that supports a memory, with the quoted words."""

    turn: str
    trace_id: str
    session_id: str
    role: "Role"
    evidence: str
    said_at: str


Outcome = Literal["discarded", "forget_all_requested", "merged", "pending_review", "retracted", "stored"]


class OutcomeResponse(TypedDict):
    """The outcome of one candidate, of a turn without any, or of a known memory that the user asked to forget.

    `detail` is the model's explanation of a discard. `forget_all_requested` tells that the user asked to forget
    everything: nothing was changed, and a person or the caller has to decide.
    """

    turn: str | None
    candidate: int | None
    content: str | None
    outcome: "Outcome"
    stage: "Stage"
    reason: str
    memory_id: str | None
    detail: str


class PausedModelResponse(TypedDict):
    """A model or embedder that has not answered since then; work that needs it waits in so many projects."""

    model: str
    since: str
    projects: int


Polarity = Literal["negative", "positive"]


class PopOperationBody(TypedDict):
    """Delete the newest item of just this namespace, and return it."""

    operation: Literal["pop"]
    namespace: list[str]


Precision = Literal["day", "instant", "month", "quarter", "week", "year"]

ProblemCode = Literal[
    "database_unavailable",
    "dead_work",
    "disk_full",
    "model_unavailable",
    "no_scheduler",
    "no_worker",
    "not_migrated",
    "read_only",
    "redis_unavailable",
    "requests_fail",
    "requests_slow",
    "work_late",
]


class ProblemDocument(TypedDict):
    """An error (RFC 9457). `code` is stable and meant for programs, `detail` for people.

    `request_id` is that of `X-Request-Id`; the server's log lines about the request name it.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: NotRequired[str]
    errors: NotRequired[list["FieldError"]]


class PutOperationBody(TypedDict):
    """Store an item in place of the one that the key has."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    user_id: NotRequired[str | None]
    session_id: NotRequired[str | None]
    text: NotRequired[str | None]
    ttl_minutes: NotRequired[float | None]
    expected_version: NotRequired[int | None]
    operation: Literal["put"]


class ReadinessResponse(TypedDict):
    """State of database, queue and models. Ages are in seconds, 0 if nothing is pending; `dead` counts failed work.

    `writable`: the database is neither read-only nor known to have a full disk.

    `scheduler_seconds` is the age of the scheduler's heartbeat, null before the first.

    Callers that may not read /metrics get null in place of figures, and no names of models.
    """

    status: "ServiceStatus"
    database: bool
    migrations: bool
    writable: bool
    oldest_queued_seconds: float | None
    vector_lag_seconds: float | None
    dead: int | None
    workers_alive: int | None
    scheduler_seconds: float | None
    paused_models: list["PausedModelResponse"]
    problems: list["ServiceProblem"]


class RecallEstimate(TypedDict):
    """An estimated recall with its limits, and what it was computed from; None where a sample has no labels."""

    value: float | None
    low: float | None
    high: float | None
    found: float
    missed: float


class ReplayBody(TypedDict):
    """Traces, and the configuration version under which they run again; null: each under its own.

    With `isolated` each trace starts from the state as it was before it, not from what the replay would have
    written. With `live_calls` the model is asked where a prompt has no recorded answer.
    """

    version: NotRequired[int | None]
    traces: NotRequired["ReplayTracesBody"]
    isolated: NotRequired[bool]
    live_calls: NotRequired[bool]


class ReplayList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["ReplayResponse"]


class ReplayResponse(TypedDict):
    """A replay with its estimate and its sums; differences are counted, and given by trace."""

    id: str
    status: "ReplayState"
    version: int | None
    isolated: bool
    live_calls: bool
    traces: dict[str, Any]
    estimate: dict[str, Any]
    traces_total: int
    traces_done: int
    totals: dict[str, Any]
    error: str
    created_at: str
    started_at: str | None
    finished_at: str | None


ReplayState = Literal["cancelled", "done", "estimated", "failed", "running", "waiting"]


class ReplayTracesBody(TypedDict):
    """Which ended traces are replayed: all filters have to fit, and a sample is drawn of what is left.

    `trace_ids` are identifiers of traces (trc_…); a session is named together with its user.
    """

    user_id: NotRequired[str | None]
    session_id: NotRequired[str | None]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    trace_ids: NotRequired[list[str]]
    sample: NotRequired[int | None]


ReplayedState = Literal["different", "failed", "missed", "same", "waiting"]


class ReplayedTraceList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["ReplayedTraceResponse"]


class ReplayedTraceResponse(TypedDict):
    """One trace of a replay: `diff` is empty if it ended as it was recorded."""

    user_id: str
    trace_id: str
    status: "ReplayedState"
    diff: dict[str, Any]
    totals: dict[str, Any]
    error: str


class RetractionResponse(TypedDict):
    """How many memories fit; what became of each once the number is confirmed."""

    matching: int
    is_dry_run: bool
    done: int
    refused: int
    results: list["BulkItemResponse"]


class RetrievalFigures(TypedDict):
    """The memories that were told, by what became of them; one may count for several outcomes.

    `precision` is the share of those that were confirmed among those of which anything was heard again.
    """

    told: int
    confirmed: int
    contradicted: int
    superseded: int
    precision: "Share"


class RetryWorkBody(TypedDict):
    """Which failed work to run again, by default all of it; `error` is a part of its error."""

    statuses: NotRequired[list["FailedStatus"]]
    error: NotRequired[str]
    user_id: NotRequired[str | None]


class RetryWorkResponse(TypedDict):
    """How many pieces of work will run again."""

    retried: int


class RevisionBody(TypedDict):
    """New values for a memory; omitted fields stay unchanged. `version` is the version that the caller has read.

    Without `object`, a new `content` changes the triple too: words that replace the old object become the new
    one, and an object that cannot be read from the content becomes empty.
    """

    content: NotRequired[str]
    object: NotRequired["ObjectBody | None"]
    topic: NotRequired[str]
    tags: NotRequired[list[str]]
    importance: NotRequired[float]
    confidence: NotRequired[float]
    metadata: NotRequired[dict[str, Any]]
    event_at: NotRequired[str | None]
    event_precision: NotRequired["Precision | None"]
    valid_from: NotRequired[str]
    valid_until: NotRequired[str | None]
    expires_at: NotRequired[str | None]
    status: NotRequired["Status"]
    version: NotRequired[int | None]


class RevisionsBody(TypedDict):
    """Memories to revise: each with its `id` and new values as in PATCH /v1/memories/{memory_id}."""

    memories: list[dict[str, Any]]


Role = Literal["assistant", "system", "tool", "user"]

RoleEnum = Literal["user", "assistant", "tool", "system", "developer", "function", "human", "ai", "model"]


class RollbackBody(TypedDict):
    """A rollback; unless `dry_run` is false, nothing is written.

    `force` names memories that are taken back although they were edited since. With `rerun` the traces are then
    run again under the active configuration, and so are traces of which every turn was rejected.
    """

    selection: "SelectionBody"
    dry_run: NotRequired[bool]
    force: NotRequired[list[str]]
    rerun: NotRequired[bool]
    note: NotRequired[str]


class RollbackList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["RollbackSummary"]


class RollbackPreviewResponse(TypedDict):
    """What a rollback would do. Of many end users, counts and memories are those of the first `users_previewed`."""

    users: int
    traces: int
    users_previewed: int
    counts: dict[str, int]
    memories: list["ChangedMemoryResponse"]
    left_alone: list["LeftAloneResponse"]


class RollbackResponse(TypedDict):
    """A rollback with its progress; `left_alone` lists up to 500 memories."""

    id: str
    status: "RollbackState"
    selection: dict[str, Any]
    rerun: bool
    note: str
    created_by: "ActorResponse"
    counts: dict[str, int]
    created_at: str
    finished_at: str | None
    undone_by: "ActorResponse | None"
    undone_at: str | None
    users: int
    users_waiting: int
    left_alone: list["LeftAloneResponse"]


RollbackState = Literal["done", "undoing", "undone", "waiting"]


class RollbackSummary(TypedDict):
    """A rollback; `counts` are known once it is done.

    After an undo, `counts` say how many traces it has restored (`undone_traces`), and how much it has left alone
    because it was changed or run again since (`undo_left_alone`).
    """

    id: str
    status: "RollbackState"
    selection: dict[str, Any]
    rerun: bool
    note: str
    created_by: "ActorResponse"
    counts: dict[str, int]
    created_at: str
    finished_at: str | None
    undone_by: "ActorResponse | None"
    undone_at: str | None


class SampleItemList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["SampleItemResponse"]


class SampleItemResponse(TypedDict):
    """An item: a memory with its quote, or a turn, and all its labels."""

    id: str
    kind: "SampleKind"
    position: int
    user_id: str
    memory_id: str | None
    turn_id: str | None
    content: str
    evidence: str
    memory_type: str
    model: str
    version: int | None
    labels: list["LabelResponse"]


SampleKind = Literal["memory", "turn"]


class SampleList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["SampleResponse"]


class SampleResponse(TypedDict):
    """A sample: how many rows it could have been drawn from, were drawn, and have a label."""

    id: str
    kind: "SampleKind"
    week: str
    since: str
    until: str
    seed: int
    population: int
    drawn: int
    labelled: int
    created_by: "ActorResponse"
    created_at: str


class SamplesBody(TypedDict):
    """A period to draw samples from, by default the last seven days; the same seed draws the same rows."""

    since: NotRequired[str | None]
    until: NotRequired[str | None]
    seed: NotRequired[int | None]


Scope = Literal["admin", "read", "trust", "write"]


class SearchBody(TypedDict):
    """A query with filters; a blank query returns the most important memories, whatever `min_score` is.

    A memory must have all `tags` and one of `entities` as its subject or object. `agent_id`, `app_id`, `run_id`
    and `metadata` select what one request told that named all of them; without `agent_id`, what is private to an
    agent is left out. `filter` combines conditions with AND, OR and NOT (docs/filters.md); the statuses that it
    names are searched as well. `since` and `until` limit when it was said. `as_of` selects what was true at a
    moment. Memories with a score below `min_score` are left out; without it, the setting of the project holds
    (0.115). `fields` names further fields of the results, as in GET /v1/memories/{id}, or "all"; `explain` adds
    all of them and how each result was scored.
    """

    agent_id: NotRequired[str | None]
    app_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    user_id: str
    query: str
    limit: NotRequired[int]
    types: NotRequired[list["MemoryType"]]
    topics: NotRequired[list[str]]
    tags: NotRequired[list[str]]
    entities: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any] | None]
    filter: NotRequired[dict[str, Any] | None]
    statuses: NotRequired[list["Status"]]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    stakes: NotRequired["Stakes"]
    as_of: NotRequired[str | None]
    min_confidence: NotRequired[float]
    min_score: NotRequired[float | None]
    fields: NotRequired[list[str]]
    explain: NotRequired[bool]


class SearchOperationBody(TypedDict):
    """Find items below a namespace."""

    namespace_prefix: NotRequired[list[str]]
    filter: NotRequired[dict[str, Any]]
    query: NotRequired[str]
    user_id: NotRequired[str | None]
    order: NotRequired["ItemOrder"]
    limit: NotRequired[int]
    offset: NotRequired[int]
    refresh_ttl: NotRequired[bool]
    operation: Literal["search"]


class SearchResponse(TypedDict):
    """Search results, best first; `nothing_found` says that no memory answers the query.

    `closest` has what came nearest then, if the search is explained. `waiting` has messages that are not
    processed yet and share a word with the query, the latest first; a search with conditions has none.
    """

    results: list["FoundMemoryResponse"]
    nothing_found: bool
    closest: NotRequired[list["FoundMemoryResponse"]]
    waiting: list["WaitingMessageResponse"]


class SelectionBody(TypedDict):
    """Which traces to take back: those that meet all conditions given, at least one.

    `trace_ids` (trc_…), `key_id` (key_…) and `replay_id` (rpl_…, the traces of a replay) are identifiers as
    answers give them; `version` is the number of a configuration version; a session is named together with its
    user; `since` is included, `until` is not.
    """

    trace_ids: NotRequired[list[str]]
    version: NotRequired[int | None]
    key_id: NotRequired[str | None]
    user_id: NotRequired[str | None]
    session_id: NotRequired[str | None]
    replay_id: NotRequired[str | None]
    since: NotRequired[str | None]
    until: NotRequired[str | None]


class SentAgainResponse(TypedDict):
    """How many deliveries are sent again."""

    deliveries: int


class ServiceProblem(TypedDict):
    """Something that is wrong, what to do about it, and since when it is known to be so."""

    code: "ProblemCode"
    detail: str
    since: str | None


ServiceStatus = Literal["degraded", "ok", "unavailable"]


class SessionEndResponse(TypedDict):
    """The trace of the extraction over the whole session; null if there is nothing new to extract."""

    trace_id: str | None
    status: "TraceStatus"


class SettlementBody(TypedDict):
    """How to settle a link between `from`, the memory that was stored later, and `to`.

    `kept_from` and `kept_to` keep one of the two and reject the other; `changed` closes the older one where the
    newer one begins, or on `changed_on`; `both` keeps both, with the validities given: agents are told that they
    contradict each other while both hold; `unrelated` keeps both as no contradiction; `merged` merges the newer
    one into the older one. With a version, the memory must still be at that version.
    """

    resolution: "LinkResolution"
    changed_on: NotRequired[str | None]
    from_version: NotRequired[int | None]
    to_version: NotRequired[int | None]
    from_validity: NotRequired["ValidityBody | None"]
    to_validity: NotRequired["ValidityBody | None"]


class Share(TypedDict):
    """A part of a whole with the limits between which it lies at 95 % confidence; all None if the whole is empty."""

    part: float
    whole: float
    value: float | None
    low: float | None
    high: float | None


class SkippedResponse(TypedDict):
    """A message that was not taken, by the JSON pointer of the value that prevents it, and why.

    The other messages of the request are taken. If none is left, the request is refused instead.
    """

    pointer: str
    message: str


SourceConfidence = Literal["confirmed", "direct", "inferred", "speculated"]


class SourceResponse(TypedDict):
    """A request that told a memory: agent, application and run, with the metadata that it sent."""

    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any]


class SpanResponse(TypedDict):
    """The result of one stage; `latency_us` is in microseconds."""

    stage: "Stage"
    result: "SpanResult"
    reason: str
    latency_us: int
    details: dict[str, Any]


SpanResult = Literal["error", "pass", "reject", "transform"]

SpeechAct = Literal["asserted", "hypothetical", "quoted", "roleplay", "sarcasm"]

Stage = Literal["conflict", "dedupe", "extract", "index", "persist", "pre_filter", "resolve_refs"]

Stakes = Literal["high", "low", "normal"]


class StatsResponse(TypedDict):
    """The funnel and its cost by day, oldest first."""

    since: str
    until: str
    cost_usd: str
    days: list["DayStatsResponse"]


Status = Literal["active", "archived", "merged", "pending_review", "rejected", "retracted", "superseded"]


class StoreOutcomeResponse(TypedDict):
    """What became of a memory: stored, merged into a known one, superseded by a later value, or waiting for review.

    `may_conflict_with` names known memories that contradict it, or that are alike and differ in a number, date or
    name: all of them stay as they are until they are revised or retracted.
    """

    id: str
    outcome: "StoreResult"
    supersedes: list[str]
    review_reasons: list[str]
    may_conflict_with: list[str]


StoreResult = Literal["merged", "pending_review", "stored", "superseded"]


class StoredMemoriesResponse(TypedDict):
    """The stored memories and their outcomes, in the order of the request.

    `adjusted`: what was stored otherwise than it was sent.
    """

    results: list["MemoryResponse"]
    outcomes: list["StoreOutcomeResponse"]
    adjusted: list["AdjustmentResponse"]


class TraceList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["TraceSummary"]


class TraceResponse(TypedDict):
    """A trace with its turns, stages, model calls and outcomes.

    `error` is why it ended without an outcome, or why its last attempt failed; `waiting` is null unless it waits.
    Until `index` is done, search finds its memories by their words alone. `distributed_trace_id` is that of the
    request's `traceparent`, or of the server's own span.
    """

    id: str
    user_id: str
    session_id: str
    status: "TraceStatus"
    rollback_id: str | None
    counts: dict[str, Any]
    created_at: str
    finished_at: str | None
    topic: str
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any]
    configuration_id: str
    distributed_trace_id: str
    error: str
    waiting: "WaitingResponse | None"
    index: "IndexState"
    outcomes: list["OutcomeResponse"]
    turns: list["TurnResponse"]
    spans: list["SpanResponse"]
    model_calls: list["ModelCallResponse"]


TraceStatus = Literal["dead", "done", "extraction_failed", "queued", "rejected", "rolled_back"]


class TraceSummary(TypedDict):
    """One run of the write pipeline; `rollback_id` names the rollback that has taken back what it wrote."""

    id: str
    user_id: str
    session_id: str
    status: "TraceStatus"
    rollback_id: str | None
    counts: dict[str, Any]
    created_at: str
    finished_at: str | None


class TurnBody(TypedDict):
    """One message of a conversation, also as chat APIs write it.

    `speaker` is the person who said it, where several people share the role; `name` is another name for this
    field. Of the roles, `developer` is taken as `system`, `function` as `tool`, `human` as `user`, `ai` and
    `model` as `assistant`.
    """

    role: "RoleEnum"
    content: NotRequired[str | list[Any] | None]
    speaker: NotRequired[str | None]
    occurred_at: NotRequired[str | None]
    turn_id: NotRequired[str | None]
    name: NotRequired[str | None]
    tool_calls: NotRequired[Any]
    tool_call_id: NotRequired[Any]
    function_call: NotRequired[Any]
    refusal: NotRequired[Any]
    annotations: NotRequired[Any]
    audio: NotRequired[Any]


class TurnResponse(TypedDict):
    """A turn. `rejected_for` is empty unless the pre-filter rejected it.

    `utc_offset` is the offset in which `occurred_at` was given, in minutes east of UTC.
    """

    id: str
    turn_id: str
    position: int
    role: "Role"
    speaker: str
    content: str
    occurred_at: str | None
    utc_offset: int
    received_at: str
    rejected_for: str
    rejected_by: str


class TurnsAcceptedResponse(TypedDict):
    """The turns are stored and will be processed; read the trace for the outcome.

    `adjusted` lists what was stored otherwise than it was sent, `skipped` the turns that were not taken, because
    they hold no text, more than a turn may hold, or have an unknown role. `redacted` counts the placeholders that
    stand in the turns in place of sensitive data, by kind: secret, card, iban, national_id, phone, email, custom.
    """

    trace_id: str
    status: "TraceStatus"
    adjusted: list["AdjustmentResponse"]
    skipped: list["SkippedResponse"]
    redacted: dict[str, int]


class TurnsBody(TypedDict):
    """Turns of one session, in order."""

    agent_id: NotRequired[str | None]
    app_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    user_id: str
    session_id: str
    turns: list["TurnBody"]
    mode: NotRequired["Mode"]
    topic: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]


class TurnsResponse(TypedDict):
    """The outcome of the turns. With status `dead` or `extraction_failed` nothing was stored; `error` says why."""

    trace_id: str
    status: "TraceStatus"
    adjusted: list["AdjustmentResponse"]
    skipped: list["SkippedResponse"]
    redacted: dict[str, int]
    turns: int
    rejected: dict[str, int]
    candidates: int
    stored: int
    merged: int
    superseded: int
    retracted: int
    pending_review: int
    discarded: int
    memory_ids: list[str]
    outcomes: list["OutcomeResponse"]
    error: str


TypeEnum = Literal[
    "fact",
    "preference",
    "event",
    "entity",
    "relation",
    "factual",
    "episodic",
    "decision",
    "procedural",
    "procedure",
    "behavioural",
    "behavioral",
]


class UserList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["UserResponse"]


class UserResponse(TypedDict):
    """An end user, with the number of live memories, sessions and turns."""

    id: str
    user_id: str
    memories: int
    sessions: int
    turns: int
    created_at: str


class UserStatsResponse(TypedDict):
    """Numbers of what is known about an end user.

    `by_status` counts all memories; `by_type` and `by_agent` the live ones, the latter by the agent that told
    them first (the hundred agents with most). The times are those of live memories.
    """

    user_id: str
    by_status: dict[str, int]
    by_type: dict[str, int]
    by_agent: dict[str, int]
    sessions: int
    turns: int
    first_said_at: str | None
    last_said_at: str | None
    last_turn_at: str | None


class ValidityBody(TypedDict):
    """From when until when a memory is true; null leaves the start as it is, and the end open."""

    valid_from: NotRequired[str | None]
    valid_until: NotRequired[str | None]


class VersionResponse(TypedDict):
    """A past version: the former values of the changed fields, and when they were current."""

    version: int
    operation: str
    actor: "ActorResponse"
    trace_id: str | None
    values: dict[str, Any]
    known_from: str
    known_until: str


class WaitingMessageResponse(TypedDict):
    """A message that was accepted and waits to be processed: what the user said, not what is known."""

    turn_id: str
    session_id: str
    content: str
    said_at: str


class WaitingResponse(TypedDict):
    """Why a queued trace waits: for a model that does not answer, or for its next attempt."""

    reason: str
    since: str | None
    next_try_at: str


class WebhookBody(TypedDict):
    """A webhook without its secret. `failing_since` is null once something is delivered.

    With `includes_content` it is sent the sentences of active memories, too.
    """

    name: str
    url: str
    event_types: list["EventType"]
    includes_content: NotRequired[bool]


class WebhookChangeBody(TypedDict):
    """New values of a webhook; what is left out stays as it is."""

    name: NotRequired[str | None]
    url: NotRequired[str | None]
    event_types: NotRequired["list[EventType] | None"]
    includes_content: NotRequired[bool | None]
    paused: NotRequired[bool | None]


class WebhookList(TypedDict):
    """A page of a list, with the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None
    results: list["WebhookResponse"]


class WebhookResponse(TypedDict):
    """A webhook without its secret. `failing_since` is null once something is delivered.

    With `includes_content` it is sent the sentences of active memories, too.
    """

    id: str
    name: str
    url: str
    event_types: list["EventType"]
    includes_content: bool
    paused: bool
    paused_at: str | None
    paused_by: "ActorResponse | None"
    pause_reason: str | None
    failing_since: str | None
    former_secret_until: str | None
    created_at: str
    created_by: "ActorResponse"


class WebhookRotateBody(TypedDict):
    """Whether the former secret ends at once, because it has become known."""

    ends_at_once: NotRequired[bool]


class WebhookSecretResponse(TypedDict):
    """A webhook with a new secret, which is returned only once; it is null in the response to a repeated request."""

    id: str
    name: str
    url: str
    event_types: list["EventType"]
    includes_content: bool
    paused: bool
    paused_at: str | None
    paused_by: "ActorResponse | None"
    pause_reason: str | None
    failing_since: str | None
    former_secret_until: str | None
    created_at: str
    created_by: "ActorResponse"
    secret: str | None


class WebhookSendAgainBody(TypedDict):
    """What to send again: one delivery, or without `delivery_id` all failed ones, of a period if one is given."""

    delivery_id: NotRequired[str | None]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
