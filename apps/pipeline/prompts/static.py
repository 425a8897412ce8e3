"""The static part of a prompt, taken apart into the sections that its tags name."""

import re

_SECTION = re.compile(r"^<(?P<name>[a-z_]+)>\s*$(?P<body>.*?)^</(?P=name)>\s*$", re.MULTILINE | re.DOTALL)


def sections_of(static: str) -> dict[str, str]:
    """Return the sections by name, in their order; what stands before the first one is `introduction`."""
    first = _SECTION.search(static)
    before = static[: first.start()].strip() if first else static.strip()
    found = {match["name"]: match["body"].strip() for match in _SECTION.finditer(static)}
    return ({"introduction": before} if before else {}) | found
