"""What browsers may load and run of a page of the server."""

from csp.constants import NONCE, NONE, SELF

# Stored text is untrusted: if any of it ever escapes the escaping, the browser must not run or load anything from it.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [NONCE],  # of the templates' own script elements
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
