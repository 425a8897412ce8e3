"""Stop everything that this checkout has started: the processes recorded in its data folder, then the database."""

import sys

from memplatform import embedded, processes, settings


def main() -> int:
    """Stop everything; with --delete also delete the database. Print an error as one line and exit with 1."""
    for record in processes.recorded():
        processes.end(record)
    try:
        (embedded.remove if "--delete" in sys.argv else embedded.down)(settings.EMBEDDED_DIR)
    except embedded.EmbeddedError as error:
        print(f"embedded PostgreSQL: {error}", file=sys.stderr)
        return 1
    print("stopped")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
