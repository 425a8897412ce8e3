"""Alerts, board and documents name metrics that are served, and every alert has a runbook."""

import re
import shutil
import subprocess

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from tests.deploy.files import DEPLOY, PROJECT, board, names_in, queries, rules

promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing (Debian: prometheus)")


@pytest.fixture
def served(db: None) -> dict[str, str]:
    """Return the metrics of /metrics with their types, counters with their suffix."""
    families = text_string_to_metric_families(Client().get("/metrics").content.decode())
    return {each.name + ("_total" if each.type == "counter" else ""): each.type for each in families}


def documented() -> dict[str, str]:
    """Return the metrics of docs/metrics.md with the section that they are in."""
    sections = re.split(r"^## ", (PROJECT / "docs/metrics.md").read_text(), flags=re.MULTILINE)
    rows = {
        section.partition("\n")[0]: re.findall(r"^\| `(memplatform_\w+)` \|", section, re.M) for section in sections
    }
    return {name: title for title, names in rows.items() for name in names}


def test_the_page_names_all_metrics_and_no_others(served: dict[str, str]) -> None:
    assert documented().keys() == served.keys()


def test_alerts_and_board_name_metrics_that_are_served(served: dict[str, str]) -> None:
    expressions = [*(rule["expr"] for rule in rules()), *queries()]
    assert len(expressions) > 30
    for expression in expressions:
        assert names_in(expression), expression
        assert names_in(expression) <= served.keys(), expression


def test_state_is_taken_once_and_events_are_added_up() -> None:
    """Every web server tells the same state, so a sum would count it once for each."""
    kinds = documented()
    for expression in (*(rule["expr"] for rule in rules()), *queries()):
        for name in names_in(expression):
            if kinds[name] == "State":
                assert re.search(rf"(max|absent)( by \([^)]*\))? ?\({name}", expression), expression
            else:
                assert re.search(r"\bsum\b", expression), expression


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_has_its_runbook(rule: dict[str, dict[str, str]]) -> None:
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert page.endswith("/docs/operations/")
    assert anchor == str(rule["alert"]).lower()
    assert f"\n### {rule['alert']}\n" in (PROJECT / "docs/operations.md").read_text()


def test_the_board_can_be_imported() -> None:
    ids = [panel["id"] for panel in board()["panels"]]
    assert len(ids) == len(set(ids))
    assert {each["name"] for each in board()["templating"]["list"]} == {"datasource"}
    places = {(x, y) for panel in board()["panels"] for x, y in cells(panel["gridPos"])}
    assert len(places) == sum(panel["gridPos"]["w"] * panel["gridPos"]["h"] for panel in board()["panels"])
    assert max(x for x, _ in places) < 24


def cells(place: dict[str, int]) -> list[tuple[int, int]]:
    return [
        (x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])
    ]


@promtool
@pytest.mark.parametrize(
    "arguments",
    ["check config prometheus.yml", "check rules alerts.yml", "test rules alerts_test.yml"],
)
def test_prometheus_takes_the_files(arguments: str) -> None:
    command = ["promtool", *arguments.split()]
    done = subprocess.run(command, cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@promtool
def test_prometheus_reads_the_queries_of_the_board() -> None:
    groups = "\n".join(f"  - record: query:{number}\n    expr: {query!r}" for number, query in enumerate(queries()))
    text = f"groups:\n- name: board\n  rules:\n{groups}\n".replace("$__rate_interval", "5m").replace("$__range", "1d")
    done = subprocess.run(["promtool", "check", "rules", "/dev/stdin"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
