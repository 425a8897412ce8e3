"""Patterns of rules: which ones admins may write, and why a pattern is refused."""

import re2

from apps.pipeline.prefilter.folding import fold_pattern

MAX_LENGTH = 2_000  # characters
MAX_PROGRAM_BYTES = 1 << 20  # memory of one compiled pattern


class PatternRefused(ValueError):
    """A pattern can't be used: `problem` says why, `position` (from 0) where, if that is known."""

    def __init__(self, problem: str, position: int | None = None) -> None:
        """Store the parts and build the message for the author of the pattern."""
        super().__init__(problem if position is None else f"{problem} (at character {position + 1})")
        self.problem = problem
        self.position = position


def check_pattern(pattern: str) -> None:
    """Raise PatternRefused if a pattern doesn't compile, is too large, or would match every turn."""
    if len(pattern) > MAX_LENGTH:
        raise PatternRefused(f"longer than {MAX_LENGTH} characters", MAX_LENGTH)
    if compiled(pattern).search("") is not None:
        raise PatternRefused("matches an empty text, and so every turn")


def compiled(pattern: str) -> "re2._Regexp":
    """Compile one pattern for folded text. Raises PatternRefused."""
    try:
        return re2.compile(fold_pattern(pattern), options())
    except UnicodeEncodeError as error:
        raise PatternRefused("holds a lone surrogate", error.start) from error
    except re2.error as error:
        said = error.args[0]
        problem = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        _, _, fragment = problem.rpartition(": ")  # where it is
        place = pattern.find(fragment) if ": " in problem else -1
        raise PatternRefused(problem, place if place >= 0 else None) from error


def options(*, max_bytes: int = MAX_PROGRAM_BYTES) -> re2.Options:
    """Return RE2's options: caseless, no captures, limited memory, no logging."""
    chosen = re2.Options()
    chosen.case_sensitive = False
    chosen.never_capture = True
    chosen.log_errors = False
    chosen.max_mem = max_bytes
    return chosen
