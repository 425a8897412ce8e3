"""Reads the files of deploy/."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
DEPLOY = PROJECT / "deploy"
NAME = re.compile(r"\bmemplatform_[a-z_]+")
SUFFIXES = ("_bucket", "_count", "_sum")


def rules() -> list[dict[str, Any]]:
    """Return the alerts."""
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def board() -> dict[str, Any]:
    """Return the board of Grafana."""
    read: dict[str, Any] = json.loads((DEPLOY / "grafana/memplatform.json").read_text())
    return read


def queries() -> list[str]:
    """Return the expressions of the board."""
    return [target["expr"] for panel in board()["panels"] for target in panel.get("targets", ())]


def names_in(expression: str) -> set[str]:
    """Return the metrics of an expression, histograms by their own name."""
    found = NAME.findall(expression)
    return {next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name) for name in found}
