#!/bin/sh
# make_env.sh PYTHON REQUIREMENTS [FOLDER]: create or update a virtual environment with pinned requirements.
set -eu
python=$1 requirements=$2 folder=${3:-.venv}
stamp=$folder/$(basename "$requirements" .txt).stamp  # of what was installed

command -v "$python" >/dev/null 2>&1 || {
    echo "memplatform needs Python 3.11 or newer: '$python' was not found (make env PYTHON=/path/to/python3)" >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "memplatform needs Python 3.11 or newer: '$python' is $("$python" -V 2>&1) (make env PYTHON=python3.12)" >&2
    exit 1
}
"$python" -c 'import ensurepip, venv' 2>/dev/null || {
    echo "memplatform needs Python's venv module (Debian, Ubuntu: apt-get install python3-venv)" >&2
    exit 1
}

version() { "$1" -c 'import sys; print(sys.version_info[:2])' 2>/dev/null; }
pip() { "$folder/bin/python" -m pip "$@"; }

# uv installs in seconds what takes pip a minute. It doesn't read pip's settings: it is given pip's index, and where it
# fails, pip installs. Modules are compiled when they are first imported, except for tests, which start many processes.
# Without what a package requires, but the product never imports (scripts/lock.sh): hence --no-deps.
install() {
    tools=$(mktemp -d)
    trap 'rm -rf "$tools"' EXIT
    pip install --quiet --no-input --disable-pip-version-check --no-compile --no-deps \
        --target "$tools" --requirement "$(dirname "$requirements")/requirements-uv.txt" || return
    index=${PIP_INDEX_URL:-$(pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
    compile=
    [ "$(basename "$requirements")" != requirements-dev.txt ] || compile=--compile-bytecode
    "$tools/bin/uv" pip install --no-config --no-deps $compile --require-hashes \
        --python "$folder/bin/python" --requirement "$requirements" || return
    [ -n "$compile" ] || "$tools/bin/uv" pip uninstall --quiet --python "$folder/bin/python" pip setuptools
}

if [ "$(version "$folder/bin/python" || true)" != "$(version "$python")" ] || ! cmp -s "$requirements" "$stamp"; then
    echo "Creating $folder"
    "$python" -m venv --clear "$folder"
    echo "Installing $requirements into $folder (some seconds)"
    install || {
        echo "Installing with pip instead (about a minute)"
        pip install --no-input --disable-pip-version-check --no-deps --progress-bar off --requirement "$requirements"
    }
fi
# The client is imported from this checkout; pip would need the package index to install it in this way.
"$folder/bin/python" - "$PWD/clients/python/src" <<'END'
import pathlib, sys, sysconfig
pathlib.Path(sysconfig.get_path("purelib"), "memplatform_client.pth").write_text(sys.argv[1] + "\n")
END
cp "$requirements" "$stamp"
