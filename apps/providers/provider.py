"""What a provider is: the prefix by which settings and policies name it, what it offers, and what that needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.conf import settings

from apps.pipeline.core.ports import Embedder, Model


@dataclass(frozen=True, slots=True)
class Server:
    """An address and the key that belongs to it; an empty address is the vendor's own."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)

    def or_else(self, other: "Server") -> "Server":
        """Return this server where anything of it is given, else the other: a key is sent to no foreign address."""
        return self if self.base_url or self.api_key else other


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What a client of one model is made with; `timeout` in seconds, of one try."""

    name: str
    server: Server
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider; a setting that is empty is one that it doesn't need.

    The factories import what they need themselves: a vendor's SDK takes a second to load, in every process and command,
    and an optional package may not be installed. Only what has been chosen is loaded.
    """

    name: str  # the part before the colon of "provider:name"
    model: Callable[[ModelSettings], Model] | None = None
    embedder: Callable[[str], Embedder] | None = None  # takes what follows the colon
    embedder_server: Callable[[], Server] | None = None  # None: its embedder asks no other machine
    key_setting: str = ""
    base_url_setting: str = ""
    needs_no_key_elsewhere: bool = False  # whether servers other than the vendor's may do without a key
    # Where prompts are cached by mark: the least tokens that are cached, by the beginning of the model's name.
    least_cacheable_tokens: Mapping[str, int] = field(default_factory=dict)

    @property
    def server(self) -> Server:
        """Return the server that the provider's own settings name."""
        return Server(
            base_url=getattr(settings, self.base_url_setting) if self.base_url_setting else "",
            api_key=getattr(settings, self.key_setting) if self.key_setting else "",
        )

    def has_key(self, server: Server) -> bool:
        """Return True if a server can be asked with the key that is known for it."""
        return bool(not self.key_setting or server.api_key or (self.needs_no_key_elsewhere and server.base_url))
