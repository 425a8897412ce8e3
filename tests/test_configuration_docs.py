"""The page on configuration and .env.example contain all settings with their defaults."""

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from apps.pipeline.core.policy import RedactionPolicy

ROOT = Path(__file__).resolve().parent.parent
ADDRESSES = ("db_url", "email_url", "single_sign_on")  # read what `str` has found to be set


def settings_read() -> dict[str, str]:
    """Return each variable of settings.py with its default in the format of .env."""
    calls = [node for node in ast.walk(ast.parse((ROOT / "memplatform/settings.py").read_text())) if is_read(node)]
    named = {call.args[0].value: call for call in calls if call.args and call.func.attr not in ADDRESSES}
    return {name: default_of(call) for name, call in named.items()}


def is_read(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "env"
    )


def default_of(call: Any) -> str:
    """Return the default of a variable if nothing else is set."""
    expression = next(keyword.value for keyword in call.keywords if keyword.arg == "default")
    nothing_set: defaultdict[str, Any] = defaultdict(str, BASE_DIR=Path(), IS_CHECKOUT=True, str=str)
    value = eval(compile(ast.Expression(expression), "settings.py", "eval"), {}, nothing_set)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return ",".join(value)
    return str(value)


def documented() -> dict[str, str]:
    page = (ROOT / "docs/configuration.md").read_text()
    table = page.partition("## Settings")[2].partition("## Scripts")[0]
    rows = re.findall(r"^\| `([A-Z_]+)` \| (?:`([^`]*)`|empty[^|]*) \|", table, flags=re.MULTILINE)
    return dict(rows)


def redaction_documented() -> dict[str, str]:
    page = (ROOT / "docs/configuration.md").read_text()
    table = page.partition("## Redaction of a project")[2].partition("## Scripts")[0]
    return dict(re.findall(r"^\| `([a-z_]+)` \| (?:`([^`]*)`|empty) \|", table, flags=re.MULTILINE))


def exemplified() -> dict[str, str]:
    lines = (ROOT / ".env.example").read_text().splitlines()
    found = (re.fullmatch(r"# ([A-Z_]+)=(.*)", line) for line in lines)
    return {match.group(1): match.group(2) for match in found if match}


def test_settings_are_found() -> None:
    assert {"SECRET_KEY", "EMAIL_URL", "HTTPS"} <= settings_read().keys()


def test_there_are_few_settings() -> None:
    assert len(settings_read()) <= 35


def test_the_page_names_every_variable_with_its_default() -> None:
    assert documented() == settings_read()


def test_the_example_names_every_variable_with_its_default() -> None:
    assert exemplified() == settings_read()


def test_the_page_names_what_is_redacted_by_default() -> None:
    policy = RedactionPolicy()
    values = {name: getattr(policy, name) for name in RedactionPolicy.model_fields}
    assert redaction_documented() == {name: shown(value) for name, value in values.items()}


def shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, str | bool) else ",".join(value)
