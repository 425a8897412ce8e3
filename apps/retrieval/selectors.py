"""Why a turn was kept or not, and what a search considers and agents are told about a user."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.console.labels import count_of, label
from apps.memories.models import Memory
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Outcome, Reason, Stage, Status, TraceStatus, WorkState
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.retrieval.block import ContextBlock
from apps.retrieval.explain import Recall
from apps.retrieval.search import Exclusion, SearchHit
from apps.review.selectors.comparisons import HistoryEntry, latest_changes
from apps.traces.models import Span, Turn
from apps.traces.selectors import outcomes_of

MAX_ROWS = 20
_FAR_DOWN = "not among the first of the list"
_EXPLANATIONS: dict[Reason, str] = {
    Reason.TOO_SHORT: "it is too short to contain a statement",
    Reason.GREETING: "it is only a greeting",
    Reason.FAREWELL: "it is only a farewell",
    Reason.THANKS: "it only says thanks",
    Reason.ACKNOWLEDGEMENT: "it only acknowledges the previous message",
    Reason.EMOJI_ONLY: "it contains only emoji",
    Reason.CODE_ONLY: "it contains only code",
    Reason.TOOL_MARKER: "it is a tool marker, not a message of a person",
    Reason.STRUCTURED_PAYLOAD: "it is data (JSON, XML or a table) without prose",
    Reason.META_TALK: "it talks about the conversation, not about the user",
    Reason.RECALLED_CONTEXT: "it repeats context that this server gave to the agent",
    Reason.UNTRUSTED_ROLE: "only messages of the user are remembered; this turn has another role",
    Reason.REPEATED_TURN: "it repeats a recent turn",
    Reason.PATTERN: "it matches a pre-filter rule of this project",
    Reason.NO_CANDIDATE: "no statement worth remembering was found in it",
    Reason.EXTRACTION_FAILED: "the model returned no usable answer",
    Reason.LOW_QUALITY: "the extractor rated it as not worth remembering: temporary, vague or a question",
    Reason.LOW_CONFIDENCE: "its confidence was too low",
    Reason.NOT_SUPPORTED: "its quote does not occur in the user's message",
    Reason.SECRET: "it holds a password, key, code or account number",
    Reason.OVER_LIMIT: "the turn had more statements than the limit allows, and others were more important",
    Reason.RESOLUTION_FAILED: "the person or thing it refers to could not be identified",
    Reason.DUPLICATE: "it is already known",
    Reason.WEAKER_EVIDENCE: "the memory it would replace has stronger evidence",
    Reason.ASKED_TO_FORGET: "the user asked to forget this, or something like it",
    Reason.ASKED_NOT_TO_STORE: "the user asked not to store this",
    Reason.FORGET_ALL_REQUESTED: "the user asked to forget everything; a person decides",
    Reason.NOT_ASSERTED: "it was not stated as a fact, but hypothetical, role play, a joke or a quote",
    Reason.CONTRADICTION: "it contradicts a known memory; a reviewer decides",
    Reason.UNSURE_DUPLICATE: "it may duplicate a known memory",
    Reason.LESS_TRUSTED: "its source is less trusted than that of the memory it would replace",
    Reason.PROPOSAL_REFUSED: "the model proposed to change a known memory, and the rules refused it",
    Reason.OTHERS_WORDS: "it stands in somebody else's words, such as a pasted text, a quotation or a tool's answer",
    Reason.SUSPECTED_INJECTION: "it looks like an attempt to instruct the agent",
}


def explain(reason: str) -> str:
    """Return the sentence for a reason, followed by the rule that it names; unknown reasons keep their own words."""
    kind, _, rule = reason.partition(":")
    if kind not in set(Reason) or Reason(kind) not in _EXPLANATIONS:
        return label(reason)
    return f"{_EXPLANATIONS[Reason(kind)]} ({rule})" if rule else _EXPLANATIONS[Reason(kind)]


_UNFINISHED = {
    TraceStatus.QUEUED: "Not processed yet: waiting for a worker.",  # unless _delays knows more
    TraceStatus.DEAD: "Processing failed",
    TraceStatus.ROLLED_BACK: "Rolled back: what it wrote was taken back.",
    TraceStatus.EXTRACTION_FAILED: "Extraction failed: the model returned no usable answer",
}
_STATUS_ENDINGS = {
    Status.ACTIVE: "and agents can use it.",
    Status.PENDING_REVIEW: "but it awaits review, and agents can't use it before.",
    Status.SUPERSEDED: "and has since been superseded by a newer memory.",
    Status.REJECTED: "but a reviewer rejected it.",
    Status.RETRACTED: "but it was retracted.",
    Status.MERGED: "and has since been merged into another memory.",
    Status.ARCHIVED: "and has since been archived.",
}


@dataclass(frozen=True, slots=True)
class ExplanationSentence:
    """One sentence of an explanation, with the memory or candidate that it is about."""

    text: str
    tone: str  # good, wait, bad or calm
    about: str = ""
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class TurnExplanation:
    """A turn with its explanation."""

    turn: Turn
    sentences: list[ExplanationSentence]


def explain_turns(turns: Iterable[Turn]) -> list[TurnExplanation]:
    """Explain turns that were read with their traces (three more queries)."""
    shown = list(turns)
    dropped = [turn for turn in shown if turn.rejected_by]
    spans = Span.objects.filter(
        end_user_id__in={turn.end_user_id for turn in dropped},
        trace_id__in={turn.trace_id for turn in dropped},
        stage=Stage.PRE_FILTER,
    )
    drops = [drop for span in spans for drop in span.details.get("drops", ())]
    matched = {UUID(drop["turn"]): drop.get("matched", "") for drop in drops}  # the texts that rules matched
    lines = {turn.pk: outcomes_of(turn.trace, turn) for turn in shown}
    ids = {found for told in lines.values() for line in told if (found := _memory_id(line))}
    rows = Memory.objects.filter(end_user_id__in={turn.end_user_id for turn in shown}, pk__in=ids)
    memories = {memory.pk: memory for memory in rows}
    delays = _delays(shown)
    explained = []
    for turn in shown:
        status = TraceStatus(turn.trace.status)
        if turn.rejected_for:
            rule = f" Rule “{turn.rejected_by}”" if turn.rejected_by else ""
            text = matched.get(turn.pk, "")
            words = f" matched “{text}”" if rule and text else " decided" if rule else ""
            ending = f".{rule}{words}." if rule else "."
            why = f"Dropped by the pre-filter: {explain(turn.rejected_for)}{ending}"
            sentences = [ExplanationSentence(why, "bad")]
        elif turn.trace_id in delays:
            sentences = [delays[turn.trace_id]]
        elif status in _UNFINISHED:
            error = f": {turn.trace.error}" if turn.trace.error else ""
            sentences = [ExplanationSentence(f"{_UNFINISHED[status]}{error}", "bad" if error else "wait")]
        else:
            sentences = [_outcome_sentence(line, memories) for line in lines[turn.pk]]
            sentences = sentences or [ExplanationSentence("No outcome was recorded.", "calm")]
        explained.append(TurnExplanation(turn, sentences))
    return explained


def _delays(turns: Iterable[Turn]) -> dict[UUID, ExplanationSentence]:
    """Return why queued traces wait, by trace, where an attempt has failed or what it needs does not answer."""
    queued = {turn.trace_id: turn.end_user_id for turn in turns if turn.trace.status == TraceStatus.QUEUED}
    rows = OutboxRow.objects.filter(end_user_id__in=queued.values(), subject_id__in=queued, state=WorkState.PENDING)
    delays = {}
    for row in rows.exclude(last_error="") if queued else ():
        failed = f"{count_of(row.attempts, 'attempt', 'attempts')} failed" if row.attempts else "it waits"
        text = f"Not processed yet: {failed}, next try at {row.run_at:%H:%M:%S} UTC: {row.last_error}"
        delays[row.subject_id] = ExplanationSentence(text, "bad" if row.attempts else "wait")
    return delays


_BECAME = {Outcome.MERGED: "merged into a known memory", Outcome.RETRACTED: "retracted on request"}


def _outcome_sentence(line: Mapping[str, Any], memories: Mapping[UUID, Memory]) -> ExplanationSentence:
    about = str(line.get("content") or "")
    if line["outcome"] == Outcome.DISCARDED:
        stage = label(Stage(line["stage"]))
        if not about:
            return ExplanationSentence(f"Nothing stored: {explain(str(line['reason']))}.", "calm")
        return ExplanationSentence(f"Dropped at stage “{stage}”: {explain(str(line['reason']))}.", "bad", about)
    if line["outcome"] == Outcome.FORGET_ALL_REQUESTED:
        return ExplanationSentence("The user asked to forget everything: nothing was done, a person decides.", "wait")
    memory = memories.get(_memory_id(line) or UUID(int=0))
    if memory is None:
        return ExplanationSentence("It was stored and has since been erased.", "calm", about)
    became = _BECAME.get(Outcome(line["outcome"]), "stored")
    ending = _STATUS_ENDINGS[Status(memory.status)]
    tone = {Status.ACTIVE: "good", Status.PENDING_REVIEW: "wait"}.get(Status(memory.status), "calm")
    return ExplanationSentence(f"It was {became}, {ending}", tone, memory.content, memory)


def _memory_id(line: Mapping[str, Any]) -> UUID | None:
    try:
        return parse(Prefix.MEMORY, str(line.get("memory_id") or ""))
    except BadIdentifier:
        return None


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory, its latest change, and the one that replaced it or that it was merged into."""

    memory: Memory
    change: HistoryEntry | None
    successor: Memory | None


def found_memories(*, project_id: UUID, user: str, words: str) -> list[FoundMemory]:
    """Return the latest memories with all of the words in any order, of all users or of one (four queries)."""
    rows = Memory.objects.for_project(project_id).to_show().of_words(words)
    if user:
        rows = rows.filter(end_user__external_id=user)
    memories = list(rows.order_by("-said_at", "-id")[:MAX_ROWS])
    changes = latest_changes(project_id=project_id, memory_ids=[each.pk for each in memories])
    following = {each.superseded_by_id for each in memories if each.superseded_by_id}
    successors = Memory.objects.for_project(project_id).in_bulk(following)
    return [FoundMemory(each, changes.get(each.pk), successors.get(each.superseded_by_id)) for each in memories]


def left_out(recall: Recall, block: ContextBlock) -> list[tuple[Memory, str]]:
    """Return the memories that an explained block does not tell, with the reason.

    First comes what waits for review, then what the budget leaves out, then the nearest misses.
    """
    placed = {each.pk for line in (*block.lines, *block.left_out) for each in line.memories}
    order = list(Exclusion)
    considered = [(each.memory, each.exclusion) for each in (*recall.scored, *recall.unscored)]
    missed = [(memory, why) for memory, why in considered if why is not None and memory.pk not in placed]
    missed.sort(key=lambda each: order.index(each[1]))
    waiting = [each for each in missed if each[0].status == Status.PENDING_REVIEW]
    others = [each for each in missed if each[0].status != Status.PENDING_REVIEW]
    over_budget = [(each, "the budget is used up") for line in block.left_out for each in line.memories]
    return [
        *((memory, "it waits for review" if why is Exclusion.STATUS else why) for memory, why in waiting),
        *over_budget,
        *((memory, f"it is {memory.status}" if why is Exclusion.STATUS else why) for memory, why in others),
    ]


@dataclass(frozen=True, slots=True)
class RecallRow:
    """A scored memory: its place or why it has none; `against` is that of the other version, if there is one."""

    hit: SearchHit
    place: int | None
    outcome: str
    against: str
    differs: bool


def recall_rows(recall: Recall, *, against: Recall | None) -> list[RecallRow]:
    """Return the scored memories in order of their scores, followed by further results of the other version."""
    places, others = _places(recall), _places(against) if against else {}
    hits = {each.memory.pk: each for each in against.scored} if against else {}
    rows = []
    for hit in recall.scored:
        key = hit.memory.pk
        other = hits.pop(key, None)
        differs = against is not None and (other is None or others.get(key) != places.get(key))
        rows.append(RecallRow(hit, places.get(key), hit.exclusion or "", _placed(other, others), differs))
    further = [hit for hit in hits.values() if hit.exclusion is None]
    return [*rows, *(RecallRow(hit, None, _FAR_DOWN, _placed(hit, others), differs=True) for hit in further)]


def _places(recall: Recall) -> dict[UUID, int]:
    """Return the place of each result, from 1."""
    results = (each.memory.pk for each in recall.scored if each.exclusion is None)
    return {key: place for place, key in enumerate(results, start=1)}


def _placed(hit: SearchHit | None, places: Mapping[UUID, int]) -> str:
    if hit is None:
        return _FAR_DOWN
    return hit.exclusion or f"place {places[hit.memory.pk]}, score {hit.score:.3f}"
