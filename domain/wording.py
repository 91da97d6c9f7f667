"""Sentences that can be told in several languages.

English is the language of the code, of everything that is recorded, and of whoever asks for no
other. A `Sentence` is its English text, made of a template and facts, and remembers both; another
language has a template of its own for the same facts. Templates are found by the English one, so
that an English sentence which changes cannot keep a translation of what it said before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ENGLISH, GERMAN = "en", "de"
"""Languages by their tags (BCP 47)."""


class Sentence(str):
    """The English sentence that `template` and `facts` make, as a string.

    `template` names facts in braces, as `str.format` does; without facts it is taken as it is.
    Lists are told with commas.
    """

    __slots__ = ("facts", "template")

    template: str
    facts: dict[str, Any]

    def __new__(cls, template: str, /, **facts: Any) -> Sentence:
        sentence = super().__new__(cls, _filled(template, facts, _NO_OTHER))
        sentence.template = template
        sentence.facts = facts
        return sentence

    def format(self, *args: Any, **facts: Any) -> Sentence:
        """The sentence itself: it is filled already, whatever a library would fill in."""
        return self


def sentence(template: str, /, **facts: Any) -> Sentence:
    """`template` with `facts` as a `Sentence`, or `template` itself if it is one."""
    return template if isinstance(template, Sentence) else Sentence(template, **facts)


def joined(separator: str, parts: Iterable[str]) -> Sentence:
    """All `parts` in one, each to be told in the language of the whole."""
    facts = {f"part{number}": part for number, part in enumerate(parts)}
    return Sentence(separator.join(f"{{{name}}}" for name in facts), **facts)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is said in another language than English.

    `sentences` are templates by the English ones; `rules`, `options` and `terms` are texts by id;
    `words` are what facts name and a sentence spells otherwise, such as cards.
    """

    sentences: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def told(self, text: str) -> str:
        """`text` in this language, as far as there are words for it."""
        if not isinstance(text, Sentence):
            return self.sentences.get(text, text)
        template = self.sentences.get(text.template, text.template)
        return _filled(template, text.facts, self)


_NO_OTHER = Catalogue()


def _filled(template: str, facts: Mapping[str, Any], language: Catalogue) -> str:
    if not facts:
        return template
    return template.format_map({name: _spelt(fact, language) for name, fact in facts.items()})


def _spelt(fact: Any, language: Catalogue) -> Any:
    if isinstance(fact, Sentence):
        return language.told(fact)
    if isinstance(fact, str):
        return language.words.get(fact, fact)
    if isinstance(fact, list | tuple):
        return ", ".join(str(_spelt(each, language)) for each in fact)
    return fact
