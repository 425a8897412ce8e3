#!/bin/sh
# Build wheels of the server, with its documentation inside, and of the Python client into var/wheels.
set -eu
cd "$(dirname "$0")/.."
rm -rf var/wheels build memplatform/docs
trap 'rm -rf build memplatform/docs' EXIT
cp -r docs memplatform/docs
"${PYTHON:-.venv/bin/python}" -m pip wheel --quiet --no-deps --disable-pip-version-check --wheel-dir var/wheels . clients/python
ls var/wheels
