"""Exit with 0 when the web server of this machine answers /healthz, else with 1 and one line that says why."""

import os
import sys
import urllib.request

PATIENCE = 3  # seconds


def main() -> int:
    """Ask once, as a proxy that speaks HTTPS outside would."""
    url = f"http://127.0.0.1:{os.environ.get('WEB_PORT', '8000')}/healthz"
    request = urllib.request.Request(url, headers={"X-Forwarded-Proto": "https"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE):
            return 0
    except OSError as error:
        print(f"{url}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
