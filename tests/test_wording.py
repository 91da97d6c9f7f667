"""Whatever people are told is told in German too, with the same facts."""

from __future__ import annotations

import copy
import pickle
import string

import pytest

from api import languages
from domain import registry
from domain.ruleset import Ruleset
from domain.wording import GERMAN, Catalogue, Sentence, joined
from tests import sentences

SAID = languages.catalogue(GERMAN)


def _facts(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def test_sentences_are_found_in_the_code() -> None:
    found = sentences.templates()
    assert len(found) > 100
    # One of each way to make one: a call, a default, a condition, and within another call.
    for template in (
        "You do not hold {card}.",
        "There is nothing here that you may see.",
        "The match has not begun yet.",
        "What is on offer: {offered}.",
    ):
        assert template in found


def test_german_uses_the_same_facts() -> None:
    assert [
        (english, german)
        for english, german in SAID.sentences.items()
        if _facts(english) != _facts(german) or english == german
    ] == []


def test_every_check_of_a_value_has_a_german_one() -> None:
    found = list(sentences.validated())
    assert len(found) > 100
    missing = [
        (where, message)
        for where, message in found
        if (message.template if isinstance(message, Sentence) else message) not in SAID.sentences
    ]
    assert missing == []
    # What names bounds or values names them as facts.
    assert not any(
        character.isdigit()
        for _, message in found
        if not isinstance(message, Sentence)
        for character in message.replace("utf-8", "")
    )


def test_every_title_has_a_german_one() -> None:
    assert [title for title in sentences.titles() if title not in SAID.sentences] == []


def test_nothing_german_is_left_of_what_is_said_no_more() -> None:
    said = {*sentences.templates(), *sentences.titles()}
    said |= {
        message.template if isinstance(message, Sentence) else message
        for _, message in sentences.validated()
    }
    assert [each for each in SAID.sentences if each not in said] == []


@pytest.mark.parametrize("rules", registry.RULESETS.values(), ids=registry.RULESETS)
def test_rules_options_and_terms_are_german(rules: Ruleset) -> None:
    own = rules.translations[GERMAN]
    assert list(own.rules) != []
    assert set(own.rules) == {rule.id for rule in rules.rules}
    assert set(own.options) == {option.name for option in rules.options}
    assert set(own.terms) == {term.id for term in rules.terms}
    for rule in rules.rules:
        assert rules.wording(rule.id) == rule.wording
        assert rules.wording(rule.id, GERMAN) == own.rules[rule.id] != rule.wording
        assert own.rules[rule.id].endswith((".", "“"))
    for option in rules.options:
        assert rules.meaning(option) == option.meaning
        assert rules.meaning(option, GERMAN) == own.options[option.name] != option.meaning
    for term in rules.terms:
        assert rules.term(term) == term.name
        assert rules.term(term, GERMAN) == own.terms[term.id] != term.name or term.id in (
            "gold",
            "rose",
        )


@pytest.mark.parametrize("rules", registry.RULESETS.values(), ids=registry.RULESETS)
def test_every_part_of_a_cards_name_is_a_term(rules: Ruleset) -> None:
    named = {part for card in rules.cards for part in card.split("-") if not part.isdigit()}
    assert {term.id for term in rules.terms} == named
    assert set(rules.cards) <= set(rules.translations[GERMAN].words)


def test_a_sentence_is_its_english_text() -> None:
    told = Sentence("{card} and {units}", card="E-rose", units=["gold-1", "gold-2"])
    assert told == "E-rose and gold-1, gold-2"
    assert type(str(told)) is str
    assert pickle.loads(pickle.dumps(told)).facts == copy.deepcopy(told).facts == told.facts
    assert Sentence("{as} it {is}") == "{as} it {is}"
    assert told.format(card="another") is told


def test_another_language_fills_its_template_with_the_same_facts() -> None:
    language = Catalogue(
        sentences={"{card} fits.": "Es passt {card}.", "no": "nein"}, words={"E-rose": "E-Rose"}
    )
    fits = Sentence("{card} fits.", card="E-rose")
    assert language.told(fits) == "Es passt E-Rose."
    assert language.told(joined("; ", (fits, "x", Sentence("no")))) == "Es passt E-Rose.; x; nein"
    assert language.told(Sentence("What nobody translated")) == "What nobody translated"
