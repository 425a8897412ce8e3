"""Production settings pass Django's deployment check; unsafe ones are refused or reported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "SECRET_KEY": "k3y-" * 20 + "0123456789abcdef",
    "DATABASE_URL": "postgresql://user:password@127.0.0.1:1/name",
    "HTTPS": "true",
    "ALLOWED_HOSTS": "memory.example.com",
    "DEBUG": "false",
}


def check(**changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    environment = os.environ | PRODUCTION | changes
    environment.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # set where a browser runs in the same process
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def test_production_settings_are_clean() -> None:
    checked = check()
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"SECRET_KEY": "x"}, "SECRET_KEY must have at least 32 characters"),
        ({"SECRET_KEY": ""}, "set SECRET_KEY"),
        ({"WEB_THREADS": "9", "DB_POOL_SIZE": "8"}, "WEB_THREADS is 9, above DB_POOL_SIZE (8)"),
        ({"REDIS_URI": "redis://x"}, "REDIS_URI is no setting; did you mean REDIS_URL?"),
        ({"EMAIL_URL": "mail.example.com"}, "EMAIL_URL must be like smtp+tls://user:password@host:587"),
        ({"ALLOWED_HOSTS": "*", "HTTPS": "false"}, "memplatform.W032 security.W008"),
    ],
)
def test_unsafe_settings_are_refused_or_reported(changes: dict[str, str], complaint: str) -> None:
    checked = check(**changes)
    assert checked.returncode != 0
    assert complaint in checked.stderr or all(each in checked.stderr for each in complaint.split())
