"""In which language people are told something: what Accept-Language asks for, else English."""

from __future__ import annotations

from functools import cache

from flask import Response, request

from domain.registry import RULESETS
from domain.wording import ENGLISH, GERMAN, Catalogue

from . import wording_de

LANGUAGES = (ENGLISH, GERMAN)
"""What is on offer, the first to whoever does not mind."""

_SENTENCES = {GERMAN: wording_de.SENTENCES}


def preferred() -> str:
    """The one of `LANGUAGES` that the caller wants most (RFC 9110, section 12.5.4).

    A range stands for its primary language (`de-AT` for `de`), `*` for any that is not named. Who
    asks for nothing on offer is answered in English and not refused; what cannot be read is
    ignored.
    """
    ranges = [(tag.lower().partition("-")[0], quality) for tag, quality in request.accept_languages]
    named = {tag for tag, _ in ranges}
    wanted = [(tag, quality) for tag, quality in ranges if quality > 0]
    for tag, _ in sorted(wanted, key=lambda each: -each[1]):
        if tag in LANGUAGES:
            return tag
        if tag == "*" and (others := [each for each in LANGUAGES if each not in named]):
            return others[0]
    return ENGLISH


def told(text: str) -> str:
    """`text` in the language of the caller, as far as there are words for it."""
    return catalogue(preferred()).told(text)


def speaking(response: Response) -> Response:
    """`response`, which tells something in the language of the caller, with the headers for it."""
    response.headers["Content-Language"] = preferred()
    response.vary.add("Accept-Language")
    return response


@cache
def catalogue(language: str) -> Catalogue:
    """All that the games, the record and the API say in `language`."""
    sentences = dict(_SENTENCES.get(language, {}))
    words: dict[str, str] = {}
    for rules in RULESETS.values():
        own = rules.translations.get(language, Catalogue())
        sentences |= own.sentences
        words |= own.words
    return Catalogue(sentences=sentences, words=words)
