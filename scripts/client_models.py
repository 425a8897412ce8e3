"""Write the models of the Python client from the OpenAPI document: clients/python/src/memplatform_client/models.py.

`client_models.py` writes the file, `client_models.py --check` fails if it is not what would be written.
"""

import json
import keyword
import subprocess
import sys
from pathlib import Path
from textwrap import indent, wrap
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "clients/python/src/memplatform_client/models.py"
HEAD = '''"""The bodies and answers of the REST API, written by scripts/client_models.py from its OpenAPI document."""

from typing import Any, Literal, NotRequired, TypedDict
'''
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

Schema = dict[str, Any]


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    command = [sys.executable, "manage.py", "spectacular", "--format", "openapi-json"]
    made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(made.stdout)
    return found


def module(found: dict[str, Any]) -> str:
    """Return the text of the module."""
    schemas: dict[str, Schema] = dict(sorted(found["components"]["schemas"].items()))
    parts = [definition(name, schema) for name, schema in schemas.items()]
    return formatted("\n\n".join([HEAD, *parts]) + "\n")


def definition(name: str, schema: Schema) -> str:
    """Return the definition of a named type."""
    fields = schema.get("properties")
    if fields is None:
        return f"{name} = {expression(schema)}"
    required = set(schema.get("required", ()))
    typed = {
        field: expression(described) if field in required else f"NotRequired[{expression(described)}]"
        for field, described in fields.items()
    }
    if all(field.isidentifier() and not keyword.iskeyword(field) for field in typed):
        lines = [*docstring(schema), *(f"{field}: {kind}" for field, kind in typed.items())]
        return f"class {name}(TypedDict):\n" + indent("\n".join(lines) or "pass", "    ")
    entries = ", ".join(f"{field!r}: {kind}" for field, kind in typed.items())
    return f"{name} = TypedDict({name!r}, {{{entries}}})"


def docstring(schema: Schema) -> list[str]:
    """Return the description as a docstring and an empty line."""
    paragraphs = [" ".join(each.split()) for each in schema.get("description", "").split("\n\n") if each.strip()]
    if not paragraphs:
        return []
    lines = [line for each in paragraphs for line in (*wrap(each, 110), "")][:-1]
    return [f'"""{lines[0]}', *lines[1:], '"""', ""] if len(lines) > 1 else [f'"""{lines[0]}"""', ""]


def expression(schema: Schema) -> str:
    """Return the type of a value; references are quoted, as the named type may come later."""
    if "$ref" in schema:
        return repr(schema["$ref"].rsplit("/", 1)[1])
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if schema.get("type") == "string":
        return "str"
    if "anyOf" in schema:
        return union([expression(each) for each in schema["anyOf"]])
    if schema.get("type") == "array":
        return f"list[{expression(schema['items']) if schema.get('items') else 'Any'}]"
    if schema.get("type") == "object":
        return f"dict[str, {expression(schema.get('additionalProperties') or {})}]"
    return SIMPLE.get(schema.get("type", ""), "Any")


def union(kinds: list[str]) -> str:
    """Return a union in one string, as quoted names can't be joined by `|` at run time."""
    different = list(dict.fromkeys(kinds))
    if "Any" in different:
        return "Any"
    if any("'" in kind and "Literal" not in kind for kind in different):
        return repr(" | ".join(kind.replace("'", "") if "Literal" not in kind else kind for kind in different))
    return " | ".join(different)


def formatted(text: str) -> str:
    """Return the text in the format of the repository."""
    command = [str(Path(sys.executable).parent / "ruff"), "format", "-", "--stdin-filename", str(TARGET)]
    return subprocess.run(command, input=text, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Write the file, or compare it."""
    written = module(document())
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(written)
        return 0
    if TARGET.read_text() == written:
        return 0
    print("the client's models are not those of the OpenAPI document: run `make client-models`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
