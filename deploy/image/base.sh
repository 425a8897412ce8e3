#!/bin/sh
# What the image adds to Debian 12: Python, and the certificates of public servers. Run as root in the root of the image.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet=2
apt-get install --quiet=2 --yes --no-install-recommends ca-certificates python3
rm -rf /var/lib/apt/lists/*
