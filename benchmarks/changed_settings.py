"""The product's settings, with constants changed that the environment of a service does not set."""

import json
import os
from collections.abc import Mapping

from memplatform.environment import FIXED
from memplatform.settings import *  # noqa: F403

globals().update(json.loads(os.environ.get("CHANGED_SETTINGS", "{}")))


def environment_with(values: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process for which some settings have other values, be they constants or not."""
    constants = {name: json.loads(value) for name, value in values.items() if name in FIXED}
    environment = {name: value for name, value in values.items() if name not in FIXED}
    if constants:
        environment |= {"DJANGO_SETTINGS_MODULE": __name__, "CHANGED_SETTINGS": json.dumps(constants)}
    return environment
