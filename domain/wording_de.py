"""What both games and their table say in German."""

from __future__ import annotations

RULES = {
    "table.seats": (
        "Die Sitze sind ab 0 nummeriert. Wer dazukommt, nimmt den niedrigsten freien, und niemand "
        "wird je umnummeriert. Im Uhrzeigersinn heißt aufsteigend und wieder von vorn."
    ),
    "table.ready": (
        "Der Gastgeber beginnt die Partie, sobald alle bereit sind. Wer sich setzt, ist bereit; "
        "ändert der Gastgeber den Tisch, werden die anderen neu gefragt."
    ),
    "table.lobby": (
        "Nur vor dem Beginn werden Sitze genommen und aufgegeben und Einstellungen geändert. "
        "Danach kann man aufgeben, und der Tisch bleibt, wie er ist."
    ),
    "table.match": (
        "Die Partie gewinnt, wer zuerst die vereinbarte Zahl von Runden gewonnen hat. Wer eine "
        "Runde gewinnt, bekommt 1 Punkt, alle anderen 0, und sofort wird die nächste ausgeteilt."
    ),
    "table.shuffle": (
        "Jedes Austeilen, Neumischen, Los und jeder automatische Zug wird aus dem Geheimnis des "
        "Spiels berechnet. Auf dieses legt sich der Server fest, bevor die Sitze eigene Startwerte "
        "geben, und am Ende wird es offengelegt."
    ),
    "table.turn-order": (
        "Nur wer am Zug ist, zieht; dann der nächste aktive Sitz im Uhrzeigersinn."
    ),
    "table.turn-numbers": (
        "Die Züge jeder Runde sind ab 1 nummeriert. Der Zug eines Sitzes, der aussetzt, beginnt "
        "nicht und verbraucht keine Nummer."
    ),
    "table.turn-named": (
        "Ein Zug, der Runde und Nummer nennt, gilt nur für genau diese, und von gleichen Zügen, "
        "die zugleich gesendet werden, zählt genau einer."
    ),
    "table.turn-timer": (
        "Ein Zug ist so viele Sekunden, wie der Tisch dafür gibt, nach dem Ereignis fällig, mit "
        "dem er begann, der erste einer Runde erst nach der Pause dazu. Genau zur Frist zählt ein "
        "Zug noch, später nicht mehr."
    ),
    "table.auto-pick": (
        "Läuft die Zeit eines Zuges ab, wird für den Sitz gespielt: Erlaubte Züge werden mit dem "
        "Geheimnis des Spiels ausgewählt, jeder gleich wahrscheinlich, bis der Zug weitergegangen "
        "ist."
    ),
    "table.away": (
        "Wessen Zeit so oft nacheinander abläuft wie vereinbart, gilt als abwesend: Dieser und "
        "jeder spätere Zug wird sofort für den Sitz gespielt, bis jemand zurückkommt."
    ),
    "table.back": "Wer abwesend ist, kommt zurück, indem er es sagt oder etwas ausruft.",
    "table.abandoned": (
        "Ist kein menschlicher Sitz mehr übrig, der weder abwesend ist noch aufgegeben hat, wird "
        "die Partie ohne Sieger abgebrochen."
    ),
    "table.leaving": (
        "Vor dem Beginn kann man seinen Sitz einfach aufgeben. Geht der Gastgeber, wird es der "
        "nächste menschliche Sitz, und mit dem letzten Menschen schließt der Tisch."
    ),
    "table.resigning": (
        "Während der Partie kann man nur aufgeben, jederzeit und endgültig. Wer aufgegeben hat, "
        "bekommt keine Karten mehr, und was er ziehen müsste, entfällt."
    ),
    "table.last-seat": "Hat nur ein Sitz nicht aufgegeben, gewinnt er die Partie.",
    "table.turn-limit": (
        "Eine Runde endet, wenn ein Zug über ihre Grenze hinaus begänne. Sie geht an den aktiven "
        "Sitz, der allein die wenigsten Karten hält; bei Gleichstand zählt sie nicht."
    ),
    "table.void-rounds": (
        "Eine Runde, die nicht zählt, bringt niemandem Punkte. Drei nacheinander beenden die "
        "Partie: Es gewinnt der aktive Sitz, der allein die meisten Punkte hat, sonst ist sie "
        "unentschieden."
    ),
    "table.over": "Vor dem Beginn und nach dem Ende gibt es nichts zu ziehen.",
}

OPTIONS = {
    "rounds_to_win": "Wie viele Runden man gewinnen muss, um die Partie zu gewinnen.",
    "away_after": "Nach wie vielen abgelaufenen Zügen nacheinander ein Sitz als abwesend gilt.",
    "pause_seconds": "Sekunden, die der erste Zug einer Runde mehr hat, damit alle sehen, was "
    "ausgeteilt wurde.",
}

SENTENCES = {
    # What is wrong with a value.
    "must be true or false": "muss true oder false sein",
    "must be an integer": "muss eine ganze Zahl sein",
    "must be from {least} to {most}": "muss zwischen {least} und {most} liegen",
    "must be one of {values}": "muss eines von diesen sein: {values}",
    "must be public or private": "muss public oder private sein",
    "must be 1 to 32 bytes in lower-case hex": (
        "muss aus 1 bis 32 Bytes in hexadezimalen Kleinbuchstaben bestehen"
    ),
    "can only be true: a change of the table is what unsets it": (
        "kann nur true sein: Zurückgesetzt wird es durch eine Änderung des Tisches"
    ),
    "does not belong to {type}": "gehört nicht zu {type}",
    "is missing": "fehlt",
    "is no option of this game": "ist keine Option dieses Spiels",
    "seat {seat} is taken": "Sitz {seat} ist besetzt",
    "must be 1 to 64 lower-case letters, digits and inner hyphens": (
        "muss aus 1 bis 64 Zeichen von a bis z, 0 bis 9 und - dazwischen bestehen"
    ),
    # The sandbox.
    "Only the host of a sandbox game moves its clock.": (
        "Nur der Gastgeber eines Testspiels stellt dessen Uhr."
    ),
    "The match is not being played.": "Die Partie läuft nicht.",
    "The clock goes {days} days ahead at most.": "Die Uhr geht höchstens {days} Tage vor.",
    # The lobby.
    "The host has removed you from this table.": (
        "Der Gastgeber hat dich von diesem Tisch entfernt."
    ),
    "You are seated at this table already.": "Du sitzt schon an diesem Tisch.",
    "You hold no seat at this table.": "Du hast an diesem Tisch keinen Sitz.",
    "Only the host of the table may do that.": "Das darf nur der Gastgeber des Tisches.",
    "No seat is free.": "Kein Sitz ist frei.",
    "At least {least} seats must be taken.": "Mindestens {least} Sitze müssen besetzt sein.",
    "Not everyone is ready.": "Noch sind nicht alle bereit.",
    "That can only be done before the start; now a player can resign.": (
        "Das geht nur vor dem Beginn; jetzt kann man aufgeben."
    ),
    "That can only be done before the start, and this table is closed.": (
        "Das geht nur vor dem Beginn, und dieser Tisch ist geschlossen."
    ),
    # Play.
    "You hold no seat in this game.": "Du hast in diesem Spiel keinen Sitz.",
    "You have resigned from this game.": "Du hast in diesem Spiel aufgegeben.",
    "The match has not begun yet.": "Die Partie hat noch nicht begonnen.",
    "The match is over.": "Die Partie ist zu Ende.",
    "The turn that this move was meant for is not the one that runs.": (
        "Der Zug, für den das gedacht war, ist nicht der, der läuft."
    ),
    "It is the turn of seat {turn[seat]}, not yours.": ("Am Zug ist Sitz {turn[seat]}, nicht du."),
    "The time of your turn had run out, and it was played for you.": (
        "Die Zeit deines Zuges war abgelaufen, und er wurde für dich gespielt."
    ),
}
