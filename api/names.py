"""Which names players may have: anything that people can read, nothing that deceives the eye."""

from __future__ import annotations

import unicodedata

from domain.wording import Sentence

MAX_LENGTH = 64
"""Characters, after normalisation."""

# Format characters that writing systems and emoji need within a word.
_JOINERS = "\u200c\u200d"
# Letters and symbols by category that show nothing.
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
_REFUSED = {
    "Cc": Sentence("control characters"),
    "Cf": Sentence("invisible format characters"),
    "Cn": Sentence("unassigned characters"),
    "Co": Sentence("private-use characters"),
    "Cs": Sentence("surrogates"),
    "Zl": Sentence("line separators"),
    "Zp": Sentence("paragraph separators"),
}


def normalised(name: str) -> str:
    """`name` in NFC without spaces at its ends; ValueError with a `Sentence` if it is refused."""
    name = unicodedata.normalize("NFC", name).strip(" ")
    if not 1 <= len(name) <= MAX_LENGTH:
        raise ValueError(Sentence("Must have 1 to {most} characters.", most=MAX_LENGTH))
    for character in name:
        reason = _REFUSED.get(unicodedata.category(character))
        if reason and character not in _JOINERS:
            raise ValueError(Sentence("Must not have {what}.", what=reason))
    if not any(_is_visible(character) for character in name):
        raise ValueError(Sentence("Must have something to see in it."))
    return name


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] not in "CMZ" and character not in _BLANKS
