"""Read a webhook of a project for a change, and check what callers choose."""

from collections.abc import Sequence
from uuid import UUID

from apps.actions.errors import NotFound, Unfit
from apps.events.models import WEBHOOK_NAME_LENGTH, Webhook
from apps.pipeline.core.enums import EventType
from apps.pipeline.core.input_validation import BadInput, cleaned_text

MOST_WEBHOOKS = 20  # of a project: each event is delivered to all that want it


def held_webhook(*, project_id: UUID, webhook_id: UUID, is_deleted: bool = False) -> Webhook:
    """Return a webhook of the project and lock it until the transaction ends. Raises NotFound.

    With `is_deleted` nobody else can create deliveries of it meanwhile.
    """
    webhooks = Webhook.objects.select_for_update(no_key=not is_deleted)
    webhook = webhooks.filter(project_id=project_id, id=webhook_id).first()
    if webhook is None:
        raise NotFound("there is no such webhook")
    return webhook


def checked_webhook_name(name: str) -> str:
    """Return the name of a webhook without needless characters. Raises Unfit."""
    try:
        return " ".join(cleaned_text(name, at="/name", most=WEBHOOK_NAME_LENGTH).split())
    except BadInput as error:
        raise Unfit(str(error), at=error.at) from error


def checked_types(types: Sequence[EventType]) -> list[str]:
    """Return types of events, each once, in the order of the enum. Raises Unfit if there is none."""
    if not types:
        raise Unfit("must name at least one type of event", at="/events")
    return [each.value for each in EventType if each in types]
