"""Stop everything that this installation has started: the processes recorded in its data folder, then the database."""

import sys

from memplatform import embedded, processes, settings


def main(*, delete: bool) -> int:
    """Stop everything, and delete the database if wanted. Print an error as one line and return 1."""
    for record in processes.recorded():
        processes.end(record)
    try:
        (embedded.remove if delete else embedded.down)(settings.EMBEDDED_DIR)
    except embedded.EmbeddedError as error:
        sys.stderr.write(f"embedded PostgreSQL: {error}\n")
        return 1
    sys.stdout.write("stopped\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(delete="--delete" in sys.argv))
