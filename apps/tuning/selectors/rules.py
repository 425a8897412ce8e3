"""Previews of rules, their harm, and suggestions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from apps.memories.models import EvaluationLabel, Memory
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import LIVE_STATUSES, LabelValue, values_of
from apps.pipeline.prefilter.conversation import asks
from apps.traces.models import PreFilterRule, RulePreview, Trace, Turn
from apps.tuning.rules import RuleCheck

LOST_AFTER = timedelta(minutes=5)  # a preview takes two at most


@dataclass(frozen=True, slots=True)
class PreviewExample:
    """A turn that the rule would treat differently."""

    turn: Turn
    before: str
    after: str
    memories: list[Memory]


@dataclass(frozen=True, slots=True)
class PreviewReport:
    """A preview with its examples by kind, harmful ones first."""

    preview: RulePreview
    examples: Mapping[str, list[PreviewExample]]

    @property
    def is_lost(self) -> bool:
        """Return True if it will never finish because its worker was stopped."""
        return not self.preview.is_over and self.preview.created_at < timezone.now() - LOST_AFTER

    @property
    def is_partial(self) -> bool:
        """Return True if the time limit was reached before all turns were tested."""
        return self.preview.is_over and self.preview.turns_done < self.preview.turns_total


def preview_report(preview: RulePreview) -> PreviewReport:
    """Load the examples of a preview (two queries; none while it runs)."""
    if not preview.is_over:
        return PreviewReport(preview, {})
    users = {UUID(each["end_user"]) for each in preview.examples}
    turns = Turn.objects.select_related("end_user").filter(
        end_user_id__in=users, pk__in=[each["turn"] for each in preview.examples]
    )
    ids = [memory for each in preview.examples for memory in each["memories"]]
    memories = {str(row.pk): row for row in Memory.objects.filter(end_user_id__in=users, pk__in=ids)}
    known = {str(turn.pk): turn for turn in turns}
    examples: defaultdict[str, list[PreviewExample]] = defaultdict(list)
    for each in preview.examples:
        if turn := known.get(each["turn"]):
            written = [memories[memory] for memory in each["memories"] if memory in memories]
            example = PreviewExample(turn=turn, before=each["before"], after=each["after"], memories=written)
            examples[each["kind"]].append(example)
    return PreviewReport(preview, {kind: examples[kind] for kind in ("harmful", "dropped", "kept") if examples[kind]})


MOST_HARMED = 12


@dataclass(frozen=True, slots=True)
class DroppedExample:
    """A turn that the rule would drop, and the active memories that it became."""

    turn: Turn
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check with examples, those with memories first."""

    check: RuleCheck
    examples: tuple[DroppedExample, ...]


def check_report(check: RuleCheck) -> CheckReport:
    """Load the examples of a check (two queries)."""
    harmful = {each.change.turn_id: each.memories for each in check.harmful}
    changes = [each.change for each in check.harmful]
    changes += [change for change in check.dropped if change.turn_id not in harmful]
    shown = changes[:MOST_HARMED]
    users = {change.end_user_id for change in shown}
    rows = Turn.objects.select_related("end_user").filter(end_user_id__in=users)
    turns = {turn.pk: turn for turn in rows.filter(pk__in=[change.turn_id for change in shown])}
    ids = [memory for change in shown for memory in harmful.get(change.turn_id, ())]
    memories = {row.pk: row for row in Memory.objects.filter(end_user_id__in=users, pk__in=ids)}
    examples = []
    for change in shown:
        if change.turn_id in turns:
            lost = tuple(memories[each] for each in harmful.get(change.turn_id, ()) if each in memories)
            examples.append(DroppedExample(turns[change.turn_id], lost))
    return CheckReport(check, tuple(examples))


MOST_TRACES = 2_000  # the latest ones
MOST_DROPS = 500
MOST_MEMORIES = 1_000
MOST_LABELS = 100
MOST_EXAMPLES = 4  # of a rule
_LEAST_WORDS = 3  # of a quote that proves something; fewer stand in too many quotes


@dataclass(frozen=True, slots=True)
class WrongDrop:
    """A dropped turn, what proves that it was content, and the memory that says so, if there is one."""

    turn: Turn
    proof: str
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class RuleSuggestion:
    """A rule that should drop less, with its proofs; `only_answers` if all of them answered a question."""

    rule: PreFilterRule
    drops: tuple[WrongDrop, ...]
    count: int
    only_answers: bool

    @property
    def relaxed(self) -> str:
        """Return how the editor proposes to relax the rule."""
        return "answers" if self.only_answers and not self.rule.unless_answering else "off"


def rule_suggestions(*, project_id: UUID) -> list[RuleSuggestion]:
    """Return the enabled rules with wrong drops, those with most first (five queries)."""
    by_rule: defaultdict[str, dict[UUID, WrongDrop]] = defaultdict(dict)
    for drop in (*_labelled(project_id), *_said_again(project_id)):
        by_rule[drop.turn.rejected_by].setdefault(drop.turn.pk, drop)
    rules = PreFilterRule.objects.filter(project_id=project_id, enabled=True, name__in=by_rule)
    answering = _answering([drop.turn for of_rule in by_rule.values() for drop in of_rule.values()])
    found = []
    for rule in rules:
        drops = tuple(by_rule[rule.name].values())
        only_answers = all(drop.turn.pk in answering for drop in drops)
        found.append(RuleSuggestion(rule, drops[:MOST_EXAMPLES], len(drops), only_answers))
    return sorted(found, key=lambda each: (-each.count, each.rule.name))


def _labelled(project_id: UUID) -> Iterator[WrongDrop]:
    """Yield dropped turns that a labeller found something in."""
    labels = EvaluationLabel.objects.filter(
        item__sample__project_id=project_id, value=LabelValue.SOMETHING, item__turn__isnull=False
    )
    rows = labels.exclude(item__turn__rejected_by="").select_related("item__turn__end_user").order_by("-id")
    for label in rows[:MOST_LABELS]:
        if label.item.turn is not None:
            remembered = "a labeller remembered it" if label.remembered_id else "a labeller found something in it"
            yield WrongDrop(label.item.turn, remembered)


def _said_again(project_id: UUID) -> Iterator[WrongDrop]:
    """Yield dropped turns whose words a later memory of the same user quotes."""
    latest = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id").values("pk")[:MOST_TRACES]
    turns = Turn.objects.filter(trace__in=latest).exclude(rejected_by="").select_related("end_user")
    dropped = list(turns.order_by("-received_at", "-id")[:MOST_DROPS])
    quotes = _quotes(project_id, dropped)
    for turn in dropped:
        for memory in quotes.get(turn.end_user_id, ()):
            if memory.created_at > turn.received_at and says_again(turn.content, memory.evidence):
                approved = bool(memory.confidence_parts.get("review"))
                yield WrongDrop(turn, "a reviewer approved it" if approved else "a later memory says it", memory)
                break


def _quotes(project_id: UUID, dropped: Iterable[Turn]) -> Mapping[UUID, Sequence[Memory]]:
    """Return the latest live memories with a quote, by user."""
    live = Memory.objects.filter(project_id=project_id, status__in=values_of(LIVE_STATUSES)).exclude(evidence="")
    users = {turn.end_user_id for turn in dropped}
    rows = live.filter(end_user_id__in=users).order_by("-created_at")
    shown = rows.only("id", "end_user_id", "content", "evidence", "created_at", "confidence_parts")
    found: defaultdict[UUID, list[Memory]] = defaultdict(list)
    for memory in shown[:MOST_MEMORIES]:
        found[memory.end_user_id].append(memory)
    return found


def _answering(turns: Sequence[Turn]) -> frozenset[UUID]:
    """Return the turns before which a question was asked."""
    before = Q(pk__in=[])
    for turn in turns:
        before |= Q(end_user_id=turn.end_user_id, session_id=turn.session_id, position=turn.position - 1)
    rows = Turn.objects.filter(before).values_list("session_id", "position", "content")
    asked = {(session, position + 1) for session, position, content in rows if asks(content.casefold())}
    return frozenset(turn.pk for turn in turns if (turn.session_id, turn.position) in asked)


def says_again(dropped: str, quote: str) -> bool:
    """Return True if the quote of a later memory has the words of a dropped turn, one after the other."""
    words, quoted = canonical_text(dropped), canonical_text(quote)
    if not words:
        return False
    return words == quoted or (len(words.split()) >= _LEAST_WORDS and f" {words} " in f" {quoted} ")
