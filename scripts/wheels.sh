#!/bin/sh
# Build wheels of the server, with its documentation inside, and of the Python client into var/wheels.
set -eu
cd "$(dirname "$0")/.."
rm -rf var/wheels build memplatform/docs
trap 'rm -rf build memplatform/docs requirements-wheel*.txt' EXIT
cp -r docs memplatform/docs
unhashed() { sed -e '/--hash=/d' -e 's/ *\\$//' "$1"; }  # a package can't name hashes
unhashed requirements.txt >requirements-wheel.txt
unhashed requirements-server.txt >requirements-wheel-server.txt
"${PYTHON:-.venv/bin/python}" -m pip wheel --quiet --no-deps --disable-pip-version-check --wheel-dir var/wheels . clients/python
ls var/wheels
