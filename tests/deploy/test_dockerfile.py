"""What the Dockerfile copies and runs exists; test_image.py builds it, which takes minutes."""

import importlib.util
import re

from tests.deploy.files import PROJECT

DOCKERFILE = (PROJECT / "Dockerfile").read_text()


def test_what_it_copies_enters_the_build() -> None:
    sources = {
        source for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE) for source in line.split()
    }
    admitted = re.findall(r"^!(\S+)$", (PROJECT / ".dockerignore").read_text(), re.MULTILINE)
    assert {"memplatform", "apps", "docs", "scripts/make_env.sh"} <= sources
    for source in sources:
        assert (PROJECT / source).exists(), source
        assert source.split("/")[0] in admitted, source


def test_what_it_runs_is_there() -> None:
    for module in re.findall(r"python -m ([\w.]+)", DOCKERFILE):
        assert importlib.util.find_spec(module), module
    for script in re.findall(r"sh /opt/image/(\S+)", DOCKERFILE):
        assert (PROJECT / "deploy/image" / script).exists(), script
