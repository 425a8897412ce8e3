#!/bin/sh
# Compile the direct requirements (*.in) into pinned ones with hashes (*.txt), for every Python from 3.11 and every platform.
set -eu
for name in requirements requirements-dev; do
    .venv/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --no-emit-index-url --generate-hashes \
        --custom-compile-command "make lock" "$@" "$name.in" --output-file "$name.txt"
done
