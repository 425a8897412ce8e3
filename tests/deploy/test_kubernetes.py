"""The files for Kubernetes are valid, fit the product, and give no more rights than needed."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.core.management import get_commands

from tests.deploy.files import DEPLOY, PROJECT
from tests.test_configuration_docs import settings_read

BASE = DEPLOY / "kubernetes"
LISTED = yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"]
RESOURCES: dict[str, dict[str, Any]] = {name: yaml.safe_load((BASE / name).read_text()) for name in LISTED}
PODS = {
    name: each["spec"]["template"]["spec"] for name, each in RESOURCES.items() if "template" in each.get("spec", {})
}
CONTAINERS = [
    pytest.param(each, id=f"{name}:{each['name']}")
    for name, pod in PODS.items()
    for each in (*pod.get("initContainers", ()), *pod["containers"])
]
VERSIONS = ("1.31", "1.35")


def test_every_file_is_part_of_the_base() -> None:
    assert {path.name for path in BASE.glob("*.yaml")} == {*LISTED, "kustomization.yaml"}
    assert set(PODS) == {"migrate.yaml", "web.yaml", "cluster.yaml"}


@pytest.mark.parametrize("name", LISTED)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_follows_the_schema_of_kubernetes(name: str, version: str) -> None:
    kubernetes_validate.validate(RESOURCES[name], version, strict=True)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is missing")
def test_kustomize_builds_the_base_and_an_overlay(tmp_path: Path) -> None:
    shutil.copytree(BASE, tmp_path / "base")
    (tmp_path / "overlay").mkdir()
    overlay = {"namespace": "memory", "resources": ["../base"], "images": [{"name": "memplatform", "newTag": "7"}]}
    (tmp_path / "overlay/kustomization.yaml").write_text(yaml.safe_dump(overlay))
    command = ["kubectl", "kustomize", str(tmp_path / "overlay")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    documents = list(yaml.safe_load_all(built.stdout))
    assert len(documents) == len(LISTED)
    for document in documents:
        kubernetes_validate.validate(document, VERSIONS[-1], strict=True)
        assert document["metadata"]["namespace"] == "memory"


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_container_runs_a_command_of_the_image_without_rights(container: dict[str, Any]) -> None:
    command = container["command"]
    if command[:2] == ["sh", "-c"]:
        assert command[2] == "until .venv/bin/python manage.py migrate --check; do sleep 2; done"
    elif command[0] == "sh":
        assert (PROJECT / command[1]).is_file()
    else:
        assert command[:2] == [".venv/bin/python", "manage.py"]
        assert command[2] in get_commands()
    rights = container["securityContext"]
    assert rights == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
    assert container["resources"].keys() == {"requests", "limits"}


@pytest.mark.parametrize("name", PODS)
def test_a_pod_runs_as_the_user_of_the_image(name: str) -> None:
    pod = PODS[name]
    uid = int(re.findall(r"--uid (\d+)", _image_steps())[0])
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == uid
    assert pod["securityContext"]["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]


def _image_steps() -> str:
    scripts = (path.read_text() for path in (DEPLOY / "image").glob("*.sh"))
    return "\n".join([(PROJECT / "Dockerfile").read_text(), *scripts])


def test_only_the_migration_knows_the_owner_of_the_tables() -> None:
    knowing = {name for name in PODS if "memplatform-owner" in str(PODS[name])}
    assert knowing == {"migrate.yaml"}
    assert not any(each["kind"] == "Secret" for each in RESOURCES.values())


def test_pods_have_the_time_that_the_product_takes_to_end() -> None:
    settings = RESOURCES["settings.yaml"]["data"]
    pause = int(PODS["web.yaml"]["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert PODS["web.yaml"]["terminationGracePeriodSeconds"] >= pause + int(settings["WEB_STOP_SECONDS"])
    compose = yaml.safe_load((PROJECT / "compose.yaml").read_text())["services"]["cluster"]["stop_grace_period"]
    assert PODS["cluster.yaml"]["terminationGracePeriodSeconds"] == int(compose.removesuffix("m")) * 60


def test_settings_exist_and_ports_agree() -> None:
    settings = RESOURCES["settings.yaml"]["data"]
    of_scripts = {"WEB_WORKERS", "WEB_STOP_SECONDS"}
    assert settings.keys() - of_scripts <= settings_read().keys()
    ports = {name: PODS[name]["containers"][-1].get("ports", [{}])[0].get("containerPort") for name in PODS}
    assert ports == {"web.yaml": 8000, "cluster.yaml": 8000, "migrate.yaml": None}
    for name in ("web.yaml", "cluster.yaml"):
        annotations = RESOURCES[name]["spec"]["template"]["metadata"]["annotations"]
        assert annotations["prometheus.io/port"] == str(ports[name])


def test_services_and_budgets_select_pods() -> None:
    labels = [RESOURCES[name]["spec"]["template"]["metadata"]["labels"] for name in PODS]
    for name, each in RESOURCES.items():
        if name not in PODS and "selector" in each.get("spec", {}):
            selector = each["spec"]["selector"]
            assert selector.get("matchLabels", selector) in labels, name
