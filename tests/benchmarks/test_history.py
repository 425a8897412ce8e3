"""A run of a benchmark says which settings it was measured with, where they are not the defaults."""

import re

import pytest

from benchmarks.history import ENV_EXAMPLE, MEASURED_SETTINGS, other_settings

DEFAULTS = ENV_EXAMPLE.read_text()


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, {}),
        ({"WEB_THREADS": "8", "DB_PREPARE": "True", "SECRET_KEY": "hidden"}, {}),
        ({"WEB_THREADS": "2", "CLUSTER_WORKERS": "2"}, {"settings": {"WEB_THREADS": "2"}}),
        ({"DB_PREPARE": "false", "WEB_WORKERS": "4"}, {"settings": {"DB_PREPARE": "false", "WEB_WORKERS": "4"}}),
    ],
)
def test_only_other_values_are_told(environment: dict[str, str], told: dict[str, object]) -> None:
    assert other_settings(environment=environment, defaults=DEFAULTS) == told


def test_their_defaults_are_known() -> None:
    known = set(re.findall(r"(?m)^# ([A-Z_]+)=", DEFAULTS))
    assert set(MEASURED_SETTINGS) - known <= {"WEB_WORKERS"}  # of `manage.py serve`
