"""Which texts are taken, and which names players may have: anything that people can read, nothing
that deceives the eye."""

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
    require_readable(name)
    if not any(_is_visible(character) for character in name):
        raise ValueError(Sentence("Must have something to see in it."))
    return name


def require_readable(text: str, *, allowed: str = "") -> None:
    """ValueError with a `Sentence` if `text` has what nobody can see; `allowed` characters it may
    have all the same. U+0000 among them the database does not take."""
    for character in text:
        reason = _REFUSED.get(unicodedata.category(character))
        if reason and character not in _JOINERS and character not in allowed:
            raise ValueError(Sentence("Must not have {what}.", what=reason))


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] not in "CMZ" and character not in _BLANKS
