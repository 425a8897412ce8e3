"""Combine two redaction policies so that nothing is kept that one of them masks or drops."""

from apps.pipeline.core.enums import Handling, SensitiveKind
from apps.pipeline.core.policy import RedactionPolicy

_STRICTNESS = {Handling.KEEP: 0, Handling.MASK: 1, Handling.DROP: 2}
_HANDLED = [kind for kind in SensitiveKind if kind is not SensitiveKind.CUSTOM]


def stricter_redaction(first: RedactionPolicy, second: RedactionPolicy) -> RedactionPolicy:
    """Return the policy that handles each kind as the stricter one does, with the patterns and regions of both.

    The second one itself if that says the same.
    """
    named = {each.pattern: each for each in (*second.custom, *first.custom)}
    combined = RedactionPolicy(
        **{
            kind.value: max(first.handling(kind), second.handling(kind), key=_STRICTNESS.__getitem__)
            for kind in _HANDLED
        },
        items=first.items or second.items,
        phone_regions=tuple(dict.fromkeys((*second.phone_regions, *first.phone_regions)))[:10],
        custom=tuple(named.values())[:50],
    )
    return second if combined == second else combined
