"""Location of the benchmark data, which is not part of this repository."""

from pathlib import Path

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"


def find(data: Path | None, name: str) -> Path:
    """Return the file with this name in the folder (DEFAULT if none is given).

    Raises FileNotFoundError with a message for the user of the command.
    """
    folder = data if data is not None else DEFAULT
    file = folder / name
    if not file.is_file():
        raise FileNotFoundError(f"{name} is not in {folder}: name the folder that holds it with --data PATH")
    return file
