#!/bin/sh
# Make the virtual environment of the image in .venv: run as root in /opt/memplatform, beside requirements-server.txt and make_env.sh.
# It is made in a stage of its own, so that neither pip's cache nor what only installing needs gets into the image.
set -eu
export DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1
apt-get update --quiet=2
apt-get install --quiet=2 --yes --no-install-recommends python3-venv
sh make_env.sh python3 requirements-server.txt .venv
.venv/bin/python -m compileall -q .venv  # the user of the image can't write there
