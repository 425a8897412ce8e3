"""Events are delivered without the process that does so."""

from apps.events.record import number_all_events
from apps.webhooks.delivery import claim, deliver_claimed


def deliver_events() -> int:
    """Number events and deliver once what is due; return how many deliveries were taken by their receivers."""
    number_all_events()
    return sum(deliver_claimed(*each) for each in claim(most=100))
