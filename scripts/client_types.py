"""Write the types of the TypeScript client from the OpenAPI document: clients/typescript/src/models.ts.

It needs node and npm. The first line of the file holds a digest of what it was written from, so that a test without
node notices when it is stale.
"""

import hashlib
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from scripts.client_models import ROOT, document

PACKAGE = ROOT / "clients/typescript"
TARGET = PACKAGE / "src/models.ts"
_DIGEST = "// Written by scripts/client_types.py from the OpenAPI document with the digest "
_OPTIONS = ["--root-types", "--root-types-no-schema-prefix"]


def schemas_of(found: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the OpenAPI document that is typed: bodies, answers, and queries as `…Query`."""
    schemas = dict(found["components"]["schemas"])
    for methods in found["paths"].values():
        for operation in methods.values():
            if query := _query(operation):
                name = "".join(word.capitalize() for word in operation["operationId"].split("_"))
                schemas[f"{name}Query"] = query
    return {
        "openapi": found["openapi"],
        "info": {"title": found["info"]["title"], "version": found["info"]["version"]},
        "paths": {},
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _query(operation: dict[str, Any]) -> dict[str, Any] | None:
    """Return the query parameters of an operation as an object; None without any."""
    given = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    if not given:
        return None
    required = [each["name"] for each in given if each.get("required")]
    return {
        "type": "object",
        "properties": {each["name"]: _without_default(each["schema"]) for each in given},
        **({"required": required} if required else {}),
    }


def _without_default(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter that may be left out: one with a default would be required in TypeScript."""
    return {name: value for name, value in schema.items() if name != "default"}


def first_line(schemas: dict[str, Any]) -> str:
    """Return the first line of the file, which tells what it was written from."""
    written = json.dumps(schemas, sort_keys=True).encode()
    return f"{_DIGEST}{hashlib.sha256(written).hexdigest()}.\n"


def module(schemas: dict[str, Any]) -> str:
    """Return the text of the file. Raises CalledProcessError without npm or the package index."""
    if not (PACKAGE / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=PACKAGE, check=True)
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "openapi.json"), Path(folder, "models.ts")
        given.write_text(json.dumps(schemas))
        command = [str(PACKAGE / "node_modules/.bin/openapi-typescript"), str(given), "--output", str(made)]
        subprocess.run([*command, *_OPTIONS], check=True, capture_output=True)
        return first_line(schemas) + made.read_text()


if __name__ == "__main__":
    TARGET.write_text(module(schemas_of(document())))
