"""The list of providers: each offers something, and none is loaded before it is chosen."""

import subprocess
import sys
from typing import Any

import pytest

from apps.providers import registry
from apps.providers.catalog import provider_of

HEAVY = ("anthropic", "wordllama", "sentence_transformers")


def test_no_vendor_package_is_loaded_with_the_list() -> None:
    code = f"import sys, apps.providers.registry; print([name for name in {HEAVY} if name in sys.modules])"
    environment = {"DJANGO_SETTINGS_MODULE": "memplatform.settings"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("spec", "remote"), [("wordllama", False), ("hashing", False), ("openai:x", True)])
def test_only_embedders_of_other_machines_are_remote(settings: Any, spec: str, remote: bool) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    assert registry.is_remote(registry.embedder(spec)) is remote


@pytest.mark.parametrize(
    ("given", "base_url", "api_key"),
    [
        ({}, "http://proxy/v1", "sk-proxy"),
        ({"EMBEDDER_BASE_URL": "http://own/v1"}, "http://own/v1", ""),
        ({"EMBEDDER_BASE_URL": "http://own/v1", "EMBEDDER_API_KEY": "sk-own"}, "http://own/v1", "sk-own"),
        ({"EMBEDDER_API_KEY": "sk-own"}, "", "sk-own"),
    ],
)
def test_the_key_of_the_models_is_not_sent_to_the_embedders_server(
    settings: Any, given: dict[str, str], base_url: str, api_key: str
) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "http://proxy/v1", "sk-proxy"
    settings.EMBEDDER_BASE_URL = settings.EMBEDDER_API_KEY = ""
    for name, value in given.items():
        setattr(settings, name, value)
    provider = provider_of("openai:text-embedding-3-small")
    assert provider is not None
    assert provider.embedder_server is not None
    server = provider.embedder_server()
    assert (server.base_url, server.api_key) == (base_url, api_key)
