"""A model whose answers somebody writes into files, for prompts that nobody has answered yet."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.pipeline.core.model_calls import ModelRequest

POLL_SECONDS = 0.2
SETTLED_SECONDS = 0.5
PATIENCE_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class ByHand:
    """Writes a prompt to FOLDER/in/N.json and waits for its answer, a JSON object, in FOLDER/out/N.txt."""

    folder: Path
    conversation: str

    def ask(self, request: ModelRequest) -> Any:
        """Return the answer; one that is no JSON object is asked for again, the reason in FOLDER/in/N.error.

        Raises TimeoutError if nobody answers for a day.
        """
        name = self._write(request)
        file = self.folder / "out" / f"{name}.txt"
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if _is_written(file) and (answer := self._read(file)) is not None:
                return answer
            time.sleep(POLL_SECONDS)  # a person is writing
        raise TimeoutError(f"nobody has written {file}")

    def _write(self, request: ModelRequest) -> str:
        for part in ("in", "out"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        asked = self.folder / "in"
        number = max((int(each.stem) for each in asked.glob("*.json") if each.stem.isdigit()), default=0) + 1
        prompt = {
            "conversation": self.conversation,
            "purpose": request.purpose.value,
            "prompt_version": request.prompt_version,
            "static": request.static,
            "context": request.context,
            "turns": request.turns,
            "schema": dict(request.schema),
        }
        draft = asked / f"{number}.tmp"
        draft.write_text(json.dumps(prompt, ensure_ascii=False, indent=1), encoding="utf-8")
        draft.replace(asked / f"{number}.json")
        return str(number)

    def _read(self, file: Path) -> dict[str, Any] | None:
        """Return the answer, or None if it is no JSON object: the file is removed so that it is written again."""
        text = file.read_text(encoding="utf-8")
        try:
            answer: dict[str, Any] = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
            return answer
        except ValueError as error:
            (self.folder / "in" / f"{file.stem}.error").write_text(f"{error}\n{text}", encoding="utf-8")
            file.unlink()
            return None


def _is_written(file: Path) -> bool:
    """Return True if a file is there and nobody is writing it any more."""
    return file.exists() and time.time() - file.stat().st_mtime > SETTLED_SECONDS
