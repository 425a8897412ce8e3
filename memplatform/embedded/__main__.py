"""`python -m memplatform.embedded [FOLDER]` starts the server and prints its address."""

import os
import sys
from pathlib import Path

from memplatform import embedded

# The folder that the settings use, without loading them.
FOLDER = Path(os.environ.get("MEMPLATFORM_DATA") or embedded.PROJECT / "var") / "postgresql"

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    try:
        found = embedded.up(folder.absolute())
    except embedded.EmbeddedError as error:
        sys.exit(f"embedded PostgreSQL: {error}")
    print(f"host='{found.host}' port={found.port} user={found.user} dbname={found.name}")
