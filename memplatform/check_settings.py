"""`python -m memplatform.check_settings`: exit with 0 if the settings can be read, otherwise with one line and 1."""

import sys

from django.core.exceptions import ImproperlyConfigured


def main() -> int:
    """Read the settings."""
    try:
        import memplatform.settings  # noqa: F401  (that they can be read is what is asked)
    except ImproperlyConfigured as error:
        sys.stderr.write(f"settings: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
