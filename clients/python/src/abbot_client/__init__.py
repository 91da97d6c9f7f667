"""A client of Abbot, the referee of the card games Halleluja and Vallelujah.

`Abbot` has what a player needs, with retries, reconnects and idempotency keys made for you.
`abbot_client.generated` has every operation and every model of the API's document.
"""

from .abbot import Abbot, GameEvent, Turn, filled
from .problems import AbbotError, TooLate
from .transport import PatientTransport

__all__ = ["Abbot", "AbbotError", "GameEvent", "PatientTransport", "TooLate", "Turn", "filled"]
