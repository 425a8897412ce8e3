"""Texts that are made to slow regular expressions down, for the benchmark and for tests."""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

LENGTH = 2_000
MOMENT = datetime(2026, 6, 1, tzinfo=UTC)

_WORDS = (
    "I I'm I've i my My our we our me mine she He's Lena Ana Dr. the a an and or but so because not no never "
    "always from to instead of rather than was is are has have had been will would can't don't could might used "
    "live lives work works like love loves take takes use uses switched moved put on off allergic doctor sister "
    "brother dog kids named called meet meeting budget deadline appointment on in at for with since every week "
    "Monday 12 June 2026 5 mg metformin password is code key please remember that if what you your it it's this "
    "these one two three who which when where how many much left total translate write wrote said here is text "
    "answer actually sorry wait correction meant name favourite film helps makes means important to me happy more "
    "most only just really very too also again any more no longer after all stack tea "
).split()
_SIGNS = (
    " ", "  ", ", ", ". ", "? ", "! ", "; ", ": ", " - ", " – ", "...", "…", "'", "’", '"', "“", "”", "(",
    ")", "[", "]", "<", ">", "</", "```", "`", "\n", "\n\n", "\t", "-", "_", "=", "|", "{", "}", "/", "\\1",
    "@", "0", "1", "A", "a", "x", "é", "😀", "\x00", "memplatform-context", "&lt;",
)  # fmt: skip
KNOWN = (
    "no, tea" + " " * 1_992 + "x",
    "I like \\1. It makes me happy. " * 60,
    "I moved from a to " * 110,
    "my a is " * 250,
    "I am " * 400,
    "My sister Lena, " * 120,
)


def hostile_texts(random: Random) -> Iterator[str]:
    """Yield known hostile texts, then random ones, without end."""
    yield from (text[:LENGTH] for text in KNOWN)
    shapes = (_repeated, _run_between, _mixed, _alternating, _one_sentence)
    while True:
        yield random.choice(shapes)(random)[:LENGTH]


def _phrase(random: Random, most: int) -> str:
    parts = [
        random.choice(_WORDS) + " " if random.random() < 0.75 else random.choice(_SIGNS)
        for _ in range(random.randint(1, most))
    ]
    return "".join(parts)


def _repeated(random: Random) -> str:
    """Repeat a phrase, after one beginning and before one end."""
    unit = _phrase(random, 6)
    return _phrase(random, 4) + unit * (LENGTH // len(unit)) + _phrase(random, 2)


def _run_between(random: Random) -> str:
    """Put a long run of one sign between two phrases."""
    sign = random.choice((*_SIGNS, *_WORDS))
    front, back = _phrase(random, 8), _phrase(random, 8)
    return front + sign * ((LENGTH - len(front) - len(back)) // len(sign)) + back


def _mixed(random: Random) -> str:
    return _phrase(random, 600)


def _alternating(random: Random) -> str:
    """Alternate sentences of one kind with sentences of another."""
    one, two = _phrase(random, 12), _phrase(random, 12)
    return f"{one}. {two} " * (LENGTH // (len(one) + len(two) + 3) + 1)


def _one_sentence(random: Random) -> str:
    """Fill sentences up to the length that is still read as one."""
    words = [random.choice(_WORDS) for _ in range(4)]
    sentence = " ".join(words * 60)[:480]
    return f"{sentence}. " * 4
