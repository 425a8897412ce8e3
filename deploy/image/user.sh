#!/bin/sh
# Add the user that the image runs as, and the folder of its data: the only one that it may write to, beside /tmp.
set -eu
useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin memplatform
install --directory --owner memplatform --group memplatform --mode 0700 /data
