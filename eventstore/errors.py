"""How the event store says that it cannot answer. No text here comes from the database."""

from __future__ import annotations


class StoreError(Exception):
    """What callers of the event store must be ready for, besides the domain's `Refused`."""


class GameNotFound(StoreError):
    """There is no game with this id."""


class KeyReused(StoreError):
    """The idempotency key was used for another request already."""


class Unavailable(StoreError):
    """The database cannot be reached, is too busy, or did not say whether it has stored an append.

    The request may be sent again: with an idempotency key it will get the answer of the first one
    if that was stored after all.
    """


class OutOfService(StoreError):
    """No process takes moves at this moment, so no turn may expire; try again a little later."""


class AppsPlayer(StoreError):
    """A player of an app gets no scope: the app acts for them, and would have it as well."""


class Broken(StoreError):
    """What is stored does not fold or does not verify: the record was changed from outside."""


class Archived(Unavailable):
    """The month of the game is detached from the record; nothing of it is lost."""

    def __init__(self) -> None:
        super().__init__("the month of this game is detached from the record")
