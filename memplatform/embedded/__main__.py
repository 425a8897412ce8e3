"""`python -m memplatform.embedded up|down|status|remove [FOLDER]`."""

import argparse
import os
import sys
from pathlib import Path

from memplatform import embedded

PROJECT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run one command; print an error as one line and exit with 1."""
    arguments = _parser().parse_args()
    try:
        print(_answer(arguments.verb, arguments.folder.absolute()))
    except embedded.EmbeddedError as error:
        print(f"embedded PostgreSQL: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    # The folder that the settings use, without loading them.
    folder = Path(os.environ.get("MEMPLATFORM_DATA") or PROJECT / "var") / "postgresql"
    parser = argparse.ArgumentParser(prog="python -m memplatform.embedded", description=embedded.__doc__)
    parser.add_argument("verb", choices=("up", "down", "status", "remove"))
    parser.add_argument("folder", nargs="?", type=Path, default=folder)
    return parser


def _answer(verb: str, folder: Path) -> str:
    match verb:
        case "up":
            params = embedded.up(folder)
            return f"host='{params.host}' port={params.port} user={params.user} dbname={params.name}"
        case "down":
            embedded.down(folder)
        case "remove":
            embedded.remove(folder)
    return str(embedded.status(folder))


if __name__ == "__main__":
    raise SystemExit(main())
