"""Enums of evaluation: what is sampled, and what people say about it."""

from enum import StrEnum


class SampleKind(StrEnum):
    """What a sample consists of."""

    MEMORY = "memory"  # stored memories, for the precision
    TURN = "turn"  # turns of users from which nothing was stored, for the recall


class LabelValue(StrEnum):
    """What a labeller says about an item.

    A memory is asked about in this order, and the first quality that it lacks is its label: is it true, current, and
    useful for a plausible later query?
    """

    GOOD = "good"
    UNTRUE = "untrue"
    OUTDATED = "outdated"
    USELESS = "useless"
    NOTHING = "nothing"  # the turn contains nothing worth remembering
    SOMETHING = "something"  # it does, so it was missed
    SKIPPED = "skipped"  # the labeller can't tell; counts in no figure


LABEL_VALUES: dict[SampleKind, tuple[LabelValue, ...]] = {
    SampleKind.MEMORY: (
        LabelValue.GOOD,
        LabelValue.UNTRUE,
        LabelValue.OUTDATED,
        LabelValue.USELESS,
        LabelValue.SKIPPED,
    ),
    SampleKind.TURN: (LabelValue.NOTHING, LabelValue.SOMETHING, LabelValue.SKIPPED),
}
