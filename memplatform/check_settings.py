"""`python -m memplatform.check_settings`: exit with 0 if the settings can be read, otherwise with one line and 1."""

import sys

from django.core.exceptions import ImproperlyConfigured


def main() -> int:
    """Read the settings."""
    try:
        from memplatform.settings import MISSPELT
    except ImproperlyConfigured as error:
        sys.stderr.write(f"settings: {error}\n")
        return 1
    for name, meant in MISSPELT.items():
        sys.stderr.write(f"settings: {name} is no setting; did you mean {meant}?\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
