"""The container files refer to existing files, copy what the image needs, and contain no secret."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

PROJECT = Path(__file__).resolve().parents[2]
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "compose.yaml").read_text())
OURS = [name for name, service in COMPOSE["services"].items() if "build" in service]
SECRETS = ("SECRET_KEY", "POSTGRES_PASSWORD", "ANTHROPIC_API_KEY")


def copied() -> list[str]:
    """Return the sources of every COPY that takes from the build context."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, flags=re.MULTILINE)
    return [source for line in lines for source in shlex.split(line)[:-1]]


def test_every_copied_path_exists_and_enters_the_build() -> None:
    admitted = [line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert copied()
    for source in copied():
        assert (PROJECT / source).exists(), source
        assert source.split("/")[0] in admitted, source


def test_the_image_runs_unprivileged_and_is_checked() -> None:
    instructions = re.findall(r"^([A-Z]+) ", DOCKERFILE, flags=re.MULTILINE)
    assert instructions.index("USER") < instructions.index("HEALTHCHECK")
    assert re.search(r"^USER memplatform$", DOCKERFILE, flags=re.MULTILINE)
    assert not any(secret in DOCKERFILE for secret in SECRETS)


@pytest.mark.parametrize("command", re.findall(r"CMD (\[.+\])$", DOCKERFILE, flags=re.MULTILINE))
def test_the_image_s_commands_exist(command: str) -> None:
    _, script, *_ = yaml.safe_load(command)
    assert (PROJECT / script).is_file()
    assert script.split("/")[0] in copied()


@pytest.mark.parametrize("name", OURS)
def test_a_service_runs_a_command_of_ours(name: str) -> None:
    service = COMPOSE["services"][name]
    if "command" in service:
        python, script, command, *_ = service["command"]
        assert (python, script) == (".venv/bin/python", "manage.py")
        assert command in get_commands()
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_secrets_come_from_the_environment_only(name: str) -> None:
    settings = COMPOSE["services"][name].get("environment", {})
    for key in SECRETS:
        assert re.match(r"^\$\{[A-Z_]+:[?-]", settings.get(key, "${X:?"))
    assert re.search(
        r"://memplatform_app:\$\{APP_PASSWORD:\?", settings.get("DATABASE_URL", "://memplatform_app:${APP_PASSWORD:?")
    )


def test_only_the_migration_knows_the_owner_of_the_tables() -> None:
    owners = {name for name in OURS if "POSTGRES_PASSWORD" in str(COMPOSE["services"][name])}
    assert owners == {"migrate"}


def test_services_wait_for_what_they_need() -> None:
    needs = {name: set(COMPOSE["services"][name].get("depends_on", {})) for name in OURS}
    assert needs == {"web": {"migrate"}, "cluster": {"migrate"}, "migrate": {"database"}}
    assert COMPOSE["services"]["redis"]["profiles"] == ["redis"]


@pytest.mark.parametrize("name", ["web", "cluster", "migrate"])
def test_all_settings_but_a_few_come_from_one_file(name: str) -> None:
    service = COMPOSE["services"][name]
    assert [each["path"] for each in service["env_file"]] == ["settings.env"]
    assert service["environment"].keys() - {"DATABASE_OWNER_URL"} == {"SECRET_KEY", "DATABASE_URL", "WEB_PORT"}


def test_the_database_is_healthy_only_when_clients_reach_it() -> None:
    """The server that runs the first setup listens on a socket: a check without a host takes it for the real one."""
    check = COMPOSE["services"]["database"]["healthcheck"]["test"]
    assert check[check.index("-h") + 1] == "127.0.0.1"


def test_services_have_time_to_stop() -> None:
    default = re.search(
        r'WEB_STOP_SECONDS", default=(\d+)', (PROJECT / "memplatform/management/commands/serve.py").read_text()
    )
    grace = {name: service.get("stop_grace_period", "10s") for name, service in COMPOSE["services"].items()}
    assert default
    assert int(grace["web"].removesuffix("s")) > int(default[1])
    assert (grace["cluster"], grace["database"], grace["redis"]) == ("2m", "1m", "30s")
