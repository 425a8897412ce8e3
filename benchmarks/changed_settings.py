"""The product's settings, with constants changed that the environment of a service does not set."""

import json
import os
from collections.abc import Mapping

from memplatform.settings import *  # noqa: F403
from memplatform.settings import env

globals().update(json.loads(os.environ.get("CHANGED_SETTINGS", "{}")))


def environment_with(values: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process for which some settings have other values, be they constants or not."""
    fixed = globals().keys() - env.asked
    constants = {name: json.loads(value) for name, value in values.items() if name in fixed}
    environment = {name: value for name, value in values.items() if name not in fixed}
    if constants:
        environment |= {"DJANGO_SETTINGS_MODULE": __name__, "CHANGED_SETTINGS": json.dumps(constants)}
    return environment
