"""What a labeller needs to judge one item."""

from dataclasses import dataclass
from uuid import UUID

from apps.actions.evaluation.samples import items_to_label
from apps.console.selectors.review_item import CONTEXT_TURNS, EvidenceTurns, load_evidence
from apps.console.selectors.turn_explanations import TurnExplanation, explain_turns
from apps.memories.models import EvaluationItem, EvaluationLabel
from apps.pipeline.core.enums import SampleKind
from apps.traces.models import Turn


@dataclass(frozen=True, slots=True)
class ItemToLabel:
    """An item with its surroundings: the quotes of a memory, or the neighbours of a turn and why it gave nothing."""

    item: EvaluationItem
    evidence: tuple[EvidenceTurns, ...] = ()
    turns: tuple[Turn, ...] = ()
    explanation: TurnExplanation | None = None


@dataclass(frozen=True, slots=True)
class LabellingState:
    """The item that is shown, how many are left for the labeller, and the one whose label can be undone."""

    shown: ItemToLabel | None
    left: int
    last: EvaluationLabel | None


def labelling_state(
    *, project_id: UUID, labeller: str, kind: SampleKind | None, item_id: UUID | None = None
) -> LabellingState:
    """Load the next item of a labeller, or the one named if it still has to be labelled."""
    rows = items_to_label(project_id=project_id, labeller=labeller, kind=kind)
    named = rows.filter(pk=item_id).first() if item_id else None
    following = named or rows.first()
    own = EvaluationLabel.objects.filter(item__sample__project_id=project_id, labeller=labeller)
    return LabellingState(
        shown=_loaded(following) if following else None,
        left=rows.order_by().count(),
        last=own.order_by("-created_at").first(),
    )


def _loaded(item: EvaluationItem) -> ItemToLabel:
    rows = EvaluationItem.objects.select_related("end_user", "memory__end_user", "turn__trace", "turn__session")
    found = rows.get(end_user_id=item.end_user_id, pk=item.pk)
    if found.memory is not None:
        return ItemToLabel(found, evidence=load_evidence(found.memory))
    turn = found.turn
    if turn is None:
        return ItemToLabel(found)
    positions = (turn.position - CONTEXT_TURNS, turn.position + CONTEXT_TURNS)
    around = Turn.objects.filter(end_user_id=turn.end_user_id, session_id=turn.session_id, position__range=positions)
    return ItemToLabel(found, turns=tuple(around.order_by("position")), explanation=explain_turns([turn])[0])
