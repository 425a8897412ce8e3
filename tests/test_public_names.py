"""Public class names in apps/ are unique."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

APPS = Path(__file__).resolve().parents[1] / "apps"
PER_COMMAND = "Command"  # Django looks for this name in every management command


def test_no_public_class_name_stands_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, name in _public_classes():
        places[name].append(str(path.relative_to(APPS)))

    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def _public_classes() -> Iterator[tuple[Path, str]]:
    for path in sorted(APPS.rglob("*.py")):
        if "migrations" in path.parts:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name != PER_COMMAND:
                yield path, node.name
