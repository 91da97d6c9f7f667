"""How much one client may ask for and hold."""

from __future__ import annotations

from dataclasses import dataclass

from eventstore.settings import Settings

from .addresses import Network, networks


@dataclass(frozen=True, slots=True)
class Allowances:
    """Bounds for one token, one address, one player. 0 requests: as many as they like."""

    requests_per_token: int = 6000
    """Requests of one token in a minute."""
    requests_per_app: int = 60_000
    """The same for an app, which speaks for many players."""
    requests_per_address: int = 12_000
    """Requests from one address in a minute."""
    registrations_per_address: int = 200
    """Players that may register from one address in an hour."""
    lobbies_per_player: int = 20
    """Tables in the lobby of which one player is the host."""
    games_per_player: int = 200
    """Tables and running games in which one player has a seat."""
    trusted_proxies: tuple[Network, ...] = ()
    """Whose X-Forwarded-For is believed."""
    store: str = ""
    """Where requests are counted for all processes together; empty: in each by itself."""

    @classmethod
    def of(cls, settings: Settings) -> Allowances:
        """Those that the settings give."""
        return cls(
            settings.requests_per_token,
            settings.requests_per_app,
            settings.requests_per_address,
            settings.registrations_per_address,
            settings.lobbies_per_player,
            settings.games_per_player,
            networks(settings.trusted_proxies),
            settings.limits_url,
        )
