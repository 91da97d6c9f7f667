"""Halleluja in German, with the words of its sheet."""

from __future__ import annotations

from .. import wording_de as table
from ..wording import Catalogue
from .cards import FIGURES

_SYMBOLS = {
    "apple": "Apfel",
    "clover": "Klee",
    "rose": "Rose",
    "strawberry": "Erdbeere",
}

_FIGURES = {
    "A": "der verständnisvolle Abt",
    "B": "der fröhliche Koch",
    "C": "der mürrische Alte",
    "D": "der tanzende Bruder",
    "E": "der kleine Mönch, der sich ärgert",
    "F": "der kleine Mönch im Garten",
    "G": "der kleine Mönch mit Mitra und Abtsstab",
    "H": "der kleine Mönch, der einfach dasitzt",
}

_RULES = {
    "halleluja.cards": (
        "32 Karten: die Figuren A bis H, jede mit Apfel, Klee, Rose und Erdbeere. Zwei bis vier "
        "Sitze."
    ),
    "halleluja.deal": (
        "Jeder Sitz bekommt 5 Karten, einzeln und links vom Geber beginnend. Die nächste Karte "
        "wird aufgedeckt, ohne Wirkung und ohne Wunsch; der Rest ist der Nachziehstapel."
    ),
    "halleluja.dealer": (
        "Wer zuerst gibt, entscheidet das Los; danach gibt der jeweils nächste aktive Sitz. Wer "
        "hinter dem Geber sitzt, beginnt."
    ),
    "halleluja.own-card": "Man spielt eine Karte der eigenen Hand.",
    "halleluja.match": (
        "Eine Karte darf gespielt werden, wenn sie die Figur der obersten Karte oder das geltende "
        "Symbol hat."
    ),
    "halleluja.must-play": (
        "Wer eine spielbare Karte hält, muss eine spielen und darf nicht stattdessen ziehen."
    ),
    "halleluja.draw": "Wer keine spielbare Karte hält, zieht eine, einmal in seinem Zug.",
    "halleluja.drawn-card": (
        "Eine gezogene Karte, die passt, darf sofort gespielt oder behalten werden, und keine "
        "andere. Wer sie behält oder eine zieht, die nicht passt, beendet damit den Zug."
    ),
    "halleluja.pass": "Wer weder spielen noch eine Karte ziehen kann, passt.",
    "halleluja.plain-figures": "A, B, C, D und F haben keine Wirkung.",
    "halleluja.annoyed": ("Nach einem E zieht der nächste Sitz zwei Karten und ist dann am Zug."),
    "halleluja.annoyed-ends-turn": (
        "Wo der Tisch es so spielt, wird übergangen, wer für ein E zieht."
    ),
    "halleluja.annoyed-stacks": (
        "Wo der Tisch es so spielt, antwortet man auf ein E mit einem E oder zieht die Summe, "
        "bevor man etwas anderes tut."
    ),
    "halleluja.sitting": "Nach einem H setzt der nächste Sitz aus.",
    "halleluja.mitre": (
        "Wer ein G spielt, darf sich ein Symbol wünschen; es gilt, bis die nächste Karte gespielt "
        "wird. Auch ein G muss passen wie jede Karte."
    ),
    "halleluja.mitre-wild": (
        "Wo der Tisch es so spielt, darf ein G auf jede Karte gespielt werden."
    ),
    "halleluja.wish": "Nur zu einem G gehört ein Wunsch.",
    "halleluja.reshuffle": (
        "Hat der Nachziehstapel zu wenige Karten, werden die abgelegten unter der obersten "
        "gemischt und unter den Rest gelegt. Reicht auch das nicht, wird gezogen, was es gibt."
    ),
    "halleluja.resigned-hand": (
        "Die Hand eines Sitzes, der aufgibt, wird gemischt und unter den Nachziehstapel gelegt."
    ),
    "halleluja.calls": (
        "Mit der vorletzten Karte ruft man „Amen!“, mit der letzten „Halleluja!“. Fehlt der Ruf, "
        "oder ist es der falsche der beiden, kostet das eine Karte."
    ),
    "halleluja.worldly-words": (
        "Ein weltliches „Mau!“ oder „Mau-Mau!“ kostet drei Karten, wann immer es einem entfährt."
    ),
    "halleluja.three-words": (
        "Der Abt hört in einer Runde drei weltliche Wörter von einem Sitz und kein viertes."
    ),
    "halleluja.order": (
        "Nach einer gespielten Karte kommt zuerst die Strafe für den Ruf, dann der Sieg, dann die "
        "Wirkung der Figur."
    ),
    "halleluja.win": (
        "Die Runde geht an den, dessen Hand zuerst leer ist, nachdem über den Ruf geurteilt wurde."
    ),
}

_OPTIONS = {
    "mitre_wild": "Ein G darf auf jede Karte gespielt werden.",
    "annoyed_ends_turn": "Wer für ein E zieht, spielt nicht auch noch: Der Zug geht weiter.",
    "annoyed_stacks": (
        "Wer für ein E ziehen müsste, darf mit einem E antworten; dann steht der nächste Sitz vor "
        "der Summe."
    ),
}

_SENTENCES = {
    # Refusals.
    "That is no move of Halleluja.": "Das ist kein Zug von Halleluja.",
    "Only a G carries a wish.": "Nur zu einem G gehört ein Wunsch.",
    "You do not hold {card}.": "Du hältst {card} nicht.",
    "You face {pending_draw} cards: play an E, or draw them first.": (
        "Dir drohen {pending_draw} Karten: Spiel ein E, oder zieh sie zuerst."
    ),
    "You have drawn {drawn}: play it or keep it.": (
        "Du hast {drawn} gezogen: Spiel die Karte oder behalte sie."
    ),
    "You have drawn {drawn} already: play it or keep it.": (
        "Du hast schon {drawn} gezogen: Spiel die Karte oder behalte sie."
    ),
    "{card} has neither the figure {top[0]} nor the symbol {symbol_in_force}.": (
        "{card} hat weder die Figur {top[0]} noch das Symbol {symbol_in_force}."
    ),
    "The Abbot has heard three worldly words from you in this round and hears no more.": (
        "Der Abt hat in dieser Runde drei weltliche Wörter von dir gehört und hört keines mehr."
    ),
    "You hold a card that you may play, so you may not draw.": (
        "Du hältst eine Karte, die du spielen darfst, also darfst du nicht ziehen."
    ),
    "You have not drawn a card that you could keep.": (
        "Du hast keine Karte gezogen, die du behalten könntest."
    ),
    # Reasons.
    "A worldly word can slip out at any time, for three cards.": (
        "Ein weltliches Wort kann einem jederzeit entfahren, für drei Karten."
    ),
    "You drew {drawn} and may keep it.": "Du hast {drawn} gezogen und darfst die Karte behalten.",
    "You face {pending_draw} cards and may draw them.": (
        "Dir drohen {pending_draw} Karten, und du darfst sie ziehen."
    ),
    "You can neither play nor draw: you pass.": ("Du kannst weder spielen noch ziehen: Du passt."),
    "You hold no card that you may play.": "Du hältst keine Karte, die du spielen darfst.",
    "{card} hands the {pending_draw} cards on.": "{card} gibt die {pending_draw} Karten weiter.",
    "{card} has the symbol in force, {symbol_in_force}.": (
        "{card} hat das geltende Symbol, {symbol_in_force}."
    ),
    "{card} has the figure of the top card, {top}.": (
        "{card} hat die Figur der obersten Karte, {top}."
    ),
    "At this table {card} may be played on any card.": (
        "An diesem Tisch darf {card} auf jede Karte gespielt werden."
    ),
}

CATALOGUE = Catalogue(
    sentences=table.SENTENCES | _SENTENCES,
    rules=table.RULES | _RULES,
    options=table.OPTIONS | _OPTIONS,
    terms=_FIGURES | _SYMBOLS,
    words=_SYMBOLS
    | {
        f"{figure}-{symbol}": f"{figure}-{name}"
        for figure in FIGURES
        for symbol, name in _SYMBOLS.items()
    },
)
