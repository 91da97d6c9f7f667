"""Vallelujah in German."""

from __future__ import annotations

from .. import wording_de as table
from ..wording import Catalogue
from .units import POWERS

_BANNERS = {
    "crimson": "Karmin",
    "azure": "Azur",
    "forest": "Wald",
    "gold": "Gold",
    "slate": "Schiefer",
    "coral": "Koralle",
}

_RULES = {
    "vallelujah.units": (
        "54 Einheiten: sechs Banner, jedes mit den Kräften 1 bis 9. Zwei bis sechs Sitze."
    ),
    "vallelujah.deal": (
        "Jeder Sitz bekommt eine Armee von 9 Einheiten, einzeln und beim Eröffner beginnend. Die "
        "übrigen bleiben aus dem Spiel, ungesehen bis zu seinem Ende."
    ),
    "vallelujah.leader": (
        "Wer die erste Runde eröffnet, entscheidet das Los; jede weitere eröffnet der nächste "
        "aktive Sitz nach dem, der die letzte eröffnet hat."
    ),
    "vallelujah.own-units": "Man führt Einheiten der eigenen Armee ins Feld.",
    "vallelujah.lead": (
        "In eine leere Arena führt man genau eine Einheit. Schlagen oder nehmen kann man dort "
        "nicht."
    ),
    "vallelujah.lead-all": (
        "Wo der Tisch es so spielt, darf eine Armee, die ein einziges Bataillon ist, ganz in die "
        "leere Arena geführt werden."
    ),
    "vallelujah.battalion": (
        "Ein Bataillon sind Einheiten eines Banners oder Einheiten einer Kraft."
    ),
    "vallelujah.strength": (
        "Die Stärke eines Bataillons sind seine Kräfte, von hoch nach niedrig geordnet und als "
        "eine Zahl gelesen. Zum Schlagen muss man echt stärker sein."
    ),
    "vallelujah.count": (
        "Man schlägt mit so vielen Einheiten, wie das Bataillon in der Arena hat, oder mit einer "
        "mehr."
    ),
    "vallelujah.must-beat": ("Wer schlagen kann, muss schlagen und darf weder nehmen noch passen."),
    "vallelujah.capture": (
        "Wer schlägt, erbeutet genau eine Einheit des geschlagenen Bataillons nach eigener Wahl. "
        "Der Rest ist aus der Runde."
    ),
    "vallelujah.take": (
        "Wer nicht schlagen kann, nimmt genau eine Einheit des Bataillons in der Arena. Der Rest "
        "ist aus der Runde, die Arena ist leer, und der nächste aktive Sitz eröffnet."
    ),
    "vallelujah.win": (
        "Die Runde gehört einem Sitz in dem Augenblick, in dem seine Armee leer ist: Wer mit den "
        "letzten Einheiten schlägt, gewinnt sofort und erbeutet nichts."
    ),
    "vallelujah.repetition": (
        "Steht eine Stellung zum dritten Mal am Beginn eines Zuges, zählt die Runde nicht."
    ),
    "vallelujah.resigned-army": (
        "Die Armee eines Sitzes, der aufgibt, bleibt bis zum nächsten Austeilen aus dem Spiel; ein "
        "Bataillon von ihm bleibt in der Arena."
    ),
}

_OPTIONS = {
    "lead_all": (
        "Eine Armee, die ein einziges Bataillon ist, darf ganz in die leere Arena geführt werden; "
        "das gewinnt die Runde."
    ),
}

_SENTENCES = {
    # What is wrong with a value.
    "That is no move of Vallelujah.": "Das ist kein Zug von Vallelujah.",
    "must be a unit": "muss eine Einheit sein",
    "must be a list of at least one unit": "muss eine Liste von mindestens einer Einheit sein",
    "must name each unit once": "muss jede Einheit einmal nennen",
    # Refusals.
    "There is a battalion in the arena: beat it, or take from it if you cannot.": (
        "In der Arena steht ein Bataillon: Schlag es, oder nimm davon, wenn du das nicht kannst."
    ),
    "Your army is not one battalion.": "Deine Armee ist kein einziges Bataillon.",
    "Lead exactly one unit.": "Führe genau eine Einheit in die Arena.",
    "The arena is empty: lead one unit.": "Die Arena ist leer: Führe eine Einheit hinein.",
    "These units are neither of one banner nor of one power.": (
        "Diese Einheiten sind weder von einem Banner noch von einer Kraft."
    ),
    "A beat has {least} or {most} units here; yours has {count}.": (
        "Hier schlägt man mit {least} oder {most} Einheiten; du hast {count} genannt."
    ),
    "A beat with your last units wins at once and captures nothing.": (
        "Wer mit den letzten Einheiten schlägt, gewinnt sofort und erbeutet nichts."
    ),
    "Name the one unit of the battalion that you take.": (
        "Nenne die eine Einheit des Bataillons, die du nimmst."
    ),
    "{take} is not in the arena.": "{take} ist nicht in der Arena.",
    "You can beat this battalion, so you must.": (
        "Du kannst dieses Bataillon schlagen, also musst du."
    ),
    "Not in your army: {units}.": "Nicht in deiner Armee: {units}.",
    # Reasons; the first one is a refusal as well.
    "The battalion to beat is {arena_strength}; yours is {strength}.": (
        "Zu schlagen ist ein Bataillon von {arena_strength}; deines hat {strength}."
    ),
    "Your army is one battalion.": "Deine Armee ist ein einziges Bataillon.",
    "The arena is empty: one unit leads.": "Die Arena ist leer: Eine Einheit eröffnet.",
    "You cannot beat this battalion: you take.": (
        "Du kannst dieses Bataillon nicht schlagen: Du nimmst."
    ),
}

CATALOGUE = Catalogue(
    sentences=table.SENTENCES | _SENTENCES,
    rules=table.RULES | _RULES,
    options=table.OPTIONS | _OPTIONS,
    terms=_BANNERS,
    words={
        f"{banner}-{power}": f"{name}-{power}"
        for banner, name in _BANNERS.items()
        for power in POWERS
    },
)
