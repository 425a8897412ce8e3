#!/bin/sh
# Compile the direct requirements (*.in) into pinned ones with hashes (*.txt), for every Python from 3.11 and every platform.
set -eu
unused=$(mktemp)
trap 'rm -f "$unused"' EXIT
for name in requirements requirements-server requirements-dev requirements-uv; do
    # tokenizers requires it, to fetch files from a hub that the product never asks.
    echo "huggingface-hub; python_version < '3'" >"$unused"
    # rich, allauth and cffi require these for what the product doesn't use; the packages of the tests do.
    [ "$name" = requirements-dev ] || for each in pygments markdown-it-py oauthlib pycparser; do
        echo "$each; python_version < '3'" >>"$unused"
    done
    .venv/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --no-emit-index-url --generate-hashes \
        --override "$unused" --custom-compile-command "make lock" "$@" "$name.in" --output-file "$name.txt"
done
