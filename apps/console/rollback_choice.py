"""Why a choice of traces was refused, as a person reads it at the fields."""

from collections.abc import Mapping

from apps.actions.errors import Unfit
from apps.pipeline.core.identifiers import BadIdentifier
from apps.pipeline.core.input_validation import BadInput

# By the place that the action names: the field of the form, and the sentence.
_PROBLEMS = {
    "/selection": ("", "Choose what to take back: fill in at least one field."),
    "/selection/user_id": ("user", "This project has no user with this ID."),
    "/selection/session_id": ("session", "This user has no session with this ID."),
    "/selection/version": ("version", "This project has no version with this number."),
    "version": ("version", "Enter the number of a configuration version."),
    "/selection/until": ("until", "The end has to be after the beginning."),
    "/selection/key_id": ("key", "This project has no such key."),
    "/selection/replay_id": ("", "This project has no such replay."),
    "/selection/trace_ids": ("trace", "These are too many traces. Choose them by user, key or time."),
}


def choice_problems(refused: Unfit | BadInput | BadIdentifier, *, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the sentence by the name of the field; "" stands for the whole form."""
    if chosen["session"] and not chosen["user"]:
        return {"user": "A session needs its user."}
    if isinstance(refused, BadIdentifier):
        return {"trace": "This is no trace ID. One begins with trc_."}
    field, sentence = _PROBLEMS.get(refused.at, ("", f"{str(refused).capitalize()}."))
    return {field: sentence}
