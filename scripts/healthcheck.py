"""Exit with 0 if the local web server answers /healthz, otherwise with 1 and a one-line reason."""

import os
import sys
import urllib.request

PATIENCE = 3  # seconds


def main() -> int:
    """Send one request, with the header of an HTTPS proxy so that it is not redirected."""
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
