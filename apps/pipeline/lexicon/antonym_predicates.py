"""Opposite predicates, grouped into axes: liking and disliking the same thing is a contradiction."""

from apps.pipeline.core.enums import Polarity

_AXES: dict[str, tuple[str, str]] = {
    "liking": ("likes loves enjoys prefers favours fond_of", "dislikes hates avoids cannot_stand detests"),
    "eating": ("eats consumes drinks diet can_have", "does_not_eat does_not_drink"),
    "wanting": ("wants plans_to plans", "does_not_want refuses"),
    "using": ("uses", "does_not_use stopped_using"),
    "owning": ("owns has", "does_not_own sold"),
    "believing": ("believes_in supports agrees_with", "opposes disagrees_with"),
    "allergy": ("allergic_to", "not_allergic_to"),
}
_PLACES = {
    predicate: (axis, sign)
    for axis, sides in _AXES.items()
    for sign, side in zip((1, -1), sides, strict=True)
    for predicate in side.split()
}


def axis_of(predicate: str) -> str:
    """Return the axis of a predicate; most predicates have an axis of their own."""
    return _PLACES.get(predicate, (predicate, 1))[0]


def sign_of(predicate: str, *, polarity: Polarity) -> int:
    """Return the side of its axis on which a statement is: 1 or -1."""
    sign = _PLACES.get(predicate, (predicate, 1))[1]
    return sign if polarity is Polarity.POSITIVE else -sign


def same_axis(predicate: str) -> frozenset[str]:
    """Return the predicates whose statements may contradict one of this predicate, itself among them."""
    axis = axis_of(predicate)
    return frozenset({predicate, *(each for each, (name, _) in _PLACES.items() if name == axis)})
