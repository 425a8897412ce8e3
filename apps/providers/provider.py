"""The description of a provider: its prefix in settings and policies, its models and embedders, and their settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings

from apps.pipeline.core.ports import Embedder, Model


@dataclass(frozen=True, slots=True)
class Server:
    """An address with its key; an empty address means the vendor's."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)

    def or_else(self, other: "Server") -> "Server":
        """Return this server if it has an address or key, otherwise the other: keys go to their own server only."""
        return self if self.base_url or self.api_key else other


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of a client of one model; `timeout` of one try in seconds."""

    name: str
    server: Server
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider; an empty setting is not needed.

    The factories contain their imports: loading a vendor's SDK takes a second in every process and command, and an
    optional package may not be installed. Only the SDK of the configured provider is loaded.
    """

    name: str  # the part before the colon of "provider:name"
    model: Callable[[ModelSettings], Model] | None = None
    models: Callable[[], Sequence[str]] | None = None  # the names of its models; None: its server knows them
    embedder: Callable[[str], Embedder] | None = None  # parameter: the part after the colon
    embedder_server: Callable[[], Server] | None = None  # None: its embedder is local
    key_setting: str = ""
    base_url_setting: str = ""
    needs_no_key_elsewhere: bool = False  # whether servers other than the vendor's may do without a key
    # If the cached part of prompts is marked: the minimum of cached tokens, by the beginning of the model's name.
    least_cacheable_tokens: Mapping[str, int] = field(default_factory=dict)

    @property
    def server(self) -> Server:
        """Return the server in the provider's settings."""
        return Server(
            base_url=getattr(settings, self.base_url_setting) if self.base_url_setting else "",
            api_key=getattr(settings, self.key_setting) if self.key_setting else "",
        )

    def has_key(self, server: Server) -> bool:
        """Return True if a server has its key, or needs none."""
        return bool(not self.key_setting or server.api_key or (self.needs_no_key_elsewhere and server.base_url))
