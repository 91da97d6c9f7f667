"""What the API and the record say in German."""

from __future__ import annotations

_TITLES = {
    "The body is not JSON": "Der Inhalt ist kein JSON",
    "The request is malformed": "Die Anfrage ist fehlerhaft aufgebaut",
    "A valid token is needed": "Ein gültiges Token ist nötig",
    "Not allowed": "Nicht erlaubt",
    "Not found": "Nicht gefunden",
    "Method not allowed": "Methode nicht erlaubt",
    "No acceptable representation": "Keine passende Darstellung",
    "That turn is not the running one": "Dieser Zug ist nicht der laufende",
    "Not your turn": "Du bist nicht am Zug",
    "The turn's time ran out": "Die Zeit des Zuges ist abgelaufen",
    "The game is not being played": "Das Spiel läuft nicht",
    "The game is not over": "Das Spiel ist nicht zu Ende",
    "The table is no longer in the lobby": "Der Tisch ist nicht mehr in der Lobby",
    "Not everyone is ready": "Noch sind nicht alle bereit",
    "Not enough seats are taken": "Zu wenige Sitze sind besetzt",
    "The table is full": "Der Tisch ist voll",
    "Already seated": "Du sitzt schon",
    "No more webhooks": "Keine weiteren Webhooks",
    "The webhook is disabled": "Der Webhook ist abgeschaltet",
    "The game has another version": "Das Spiel hat eine andere Version",
    "The body is too large": "Der Inhalt ist zu groß",
    "Unsupported media type": "Nicht unterstützter Medientyp",
    "The request is not valid": "Die Anfrage ist ungültig",
    "The move is not legal": "Der Zug ist nicht erlaubt",
    "The idempotency key was used for another request": (
        "Der Idempotency-Key gehört zu einer anderen Anfrage"
    ),
    "Too many at a time": "Zu viele auf einmal",
    "Something went wrong here": "Hier ist etwas schiefgegangen",
    "Unavailable for the moment": "Im Augenblick nicht verfügbar",
}

_MEANINGS = {
    "The body is not JSON as RFC 8259 has it, or names a member twice. Send it again as JSON.": (
        "Der Inhalt ist kein JSON nach RFC 8259 oder nennt ein Feld zweimal. Sende ihn noch "
        "einmal als JSON."
    ),
    "Something about the form of the request is wrong: its framing, a header, or how deep its "
    "body is nested. It was not carried out; the same again fails again.": (
        "An der Form der Anfrage stimmt etwas nicht: an ihrem Aufbau, einem Header oder der Tiefe "
        "ihres Inhalts. Sie wurde nicht ausgeführt; dieselbe noch einmal scheitert wieder."
    ),
    "There is no token, or one that is unknown, was revoked or has ended. Send a valid one as "
    "Authorization: Bearer.": (
        "Es fehlt ein Token, oder es ist unbekannt, widerrufen oder abgelaufen. Sende ein "
        "gültiges als Authorization: Bearer."
    ),
    "You are known and may not do this: the token lacks a scope, or the call is for the host, a "
    "seat or an auditor.": (
        "Du bist bekannt und darfst das nicht: Dem Token fehlt ein Recht, oder der Aufruf ist dem "
        "Gastgeber, einem Sitz oder einem Prüfer vorbehalten."
    ),
    "There is no such thing, or you are not to know of it, as with a private table.": (
        "Das gibt es nicht, oder du sollst nicht davon wissen, wie bei einem privaten Tisch."
    ),
    "The path exists and does not take this method; the header Allow names those that it takes.": (
        "Den Pfad gibt es, aber nicht mit dieser Methode; der Header Allow nennt die möglichen."
    ),
    "The answer is not to be had in any of the forms that the header Accept names.": (
        "Die Antwort gibt es in keiner der Formen, die der Header Accept nennt."
    ),
    "The move names a round and turn that are no longer the running ones. Read the game again and "
    "decide anew.": (
        "Der Zug nennt eine Runde und einen Zug, die nicht mehr laufen. Lies das Spiel neu und "
        "entscheide noch einmal."
    ),
    "Another seat is to act. Wait until the game says that it is your turn.": (
        "Ein anderer Sitz ist am Zug. Warte, bis das Spiel sagt, dass du dran bist."
    ),
    "Your turn ran out before the move came, and was ended by the clock. If the move was in time, "
    "dispute the attempt.": (
        "Dein Zug lief ab, bevor die Anfrage kam, und wurde von der Uhr beendet. War sie "
        "rechtzeitig, erhebe Einspruch gegen den Versuch."
    ),
    "The match has not begun yet, or is over.": (
        "Das Match hat noch nicht begonnen oder ist vorbei."
    ),
    "This is open only once the match is over.": (
        "Das steht erst offen, wenn das Match vorbei ist."
    ),
    "The table has started or was closed; this is possible in the lobby only.": (
        "Der Tisch hat begonnen oder wurde geschlossen; das geht nur in der Lobby."
    ),
    "A player has not said ready since the table was changed last.": (
        "Jemand hat seit der letzten Änderung des Tisches nicht bestätigt, bereit zu sein."
    ),
    "Fewer seats are taken than the game needs to start.": (
        "Es sind weniger Sitze besetzt, als das Spiel zum Beginnen braucht."
    ),
    "Every seat of the table is taken.": ("Jeder Sitz des Tisches ist besetzt."),
    "You sit at this table already.": ("Du sitzt schon an diesem Tisch."),
    "There are as many webhooks as one may have. Delete one first.": (
        "Es gibt so viele Webhooks, wie man haben darf. Lösche zuerst einen."
    ),
    "The webhook sends nothing while it is disabled. Enable it first.": (
        "Der Webhook sendet nichts, solange er abgeschaltet ist. Schalte ihn zuerst wieder ein."
    ),
    "If-Match names a version that the game no longer has. Read the game again and decide anew.": (
        "If-Match nennt eine Version, die das Spiel nicht mehr hat. Lies das Spiel neu und "
        "entscheide noch einmal."
    ),
    "The body, the address or a header is larger than allowed.": (
        "Der Inhalt, die Adresse oder ein Header ist größer als erlaubt."
    ),
    "A body has to be JSON in UTF-8, with Content-Type: application/json.": (
        "Ein Inhalt muss JSON in UTF-8 sein, mit Content-Type: application/json."
    ),
    "A field or parameter is missing, unknown, or has a value that it cannot have; errors names "
    "each of them.": (
        "Ein Feld oder Parameter fehlt, ist unbekannt oder hat einen unmöglichen Wert; errors "
        "nennt jedes davon."
    ),
    "The rules do not allow the move; rule names the one that decides, facts what it rests on, "
    "and legal_moves what is allowed.": (
        "Die Regeln erlauben den Zug nicht; rule nennt die entscheidende, facts das, worauf sie "
        "sich stützt, und legal_moves, was erlaubt ist."
    ),
    "This Idempotency-Key was sent with another path or body in the last 24 hours. Take a new key "
    "for a new request.": (
        "Dieser Idempotency-Key wurde in den letzten 24 Stunden mit einem anderen Pfad oder "
        "Inhalt gesendet. Nimm für eine neue Anfrage einen neuen."
    ),
    "There were too many requests, or too many things are open at a time. Try again after "
    "Retry-After.": (
        "Es waren zu viele Anfragen, oder zu viel ist zugleich offen. Versuche es nach "
        "Retry-After wieder."
    ),
    "This is a fault of the service. It is logged under the answer's X-Request-Id.": (
        "Das ist ein Fehler des Dienstes. Er steht unter der X-Request-Id der Antwort in seinem "
        "Protokoll."
    ),
    "The service cannot answer for the moment. Send the same again after Retry-After, a change "
    "with its Idempotency-Key.": (
        "Der Dienst kann im Augenblick nicht antworten. Sende dasselbe nach Retry-After wieder, "
        "eine Änderung mit ihrem Idempotency-Key."
    ),
}

_VALUES = {
    # A library's own, then ours.
    "Not a valid boolean.": "Kein gültiger Wahrheitswert.",
    "Not a valid integer.": "Keine gültige ganze Zahl.",
    "Not a valid list.": "Keine gültige Liste.",
    "Not a valid string.": "Kein gültiger Text.",
    "Not a valid utf-8 string.": "Kein gültiger Text in UTF-8.",
    "Field may not be null.": "Darf nicht null sein.",
    "Missing data for required field.": "Fehlt und ist nötig.",
    "Number too large.": "Die Zahl ist zu groß.",
    "Invalid type.": "Der falsche Typ.",
    "Invalid input type.": "Der falsche Typ.",
    "Invalid value.": "Ungültiger Wert.",
    "Unknown field.": "Unbekanntes Feld.",
    "Must be greater than or equal to {min} and less than or equal to {max}.": (
        "Muss zwischen {min} und {max} liegen."
    ),
    "Longer than maximum length {max}.": "Länger als die Höchstlänge {max}.",
    "Length must be between {min} and {max}.": "Die Länge muss zwischen {min} und {max} liegen.",
    "Unknown query parameter.": "Unbekannter Parameter.",
    "May stand only once in the query.": "Darf nur einmal vorkommen.",
    "Must be one of {values}.": "Muss eines von diesen sein: {values}.",
    "Must be an integer.": "Muss eine ganze Zahl sein.",
    "Must be an integer, in plain digits.": "Muss eine ganze Zahl sein, nur aus Ziffern.",
    "Must be true or false.": "Muss true oder false sein.",
    "Must be 1 to 32 bytes in lower-case hex.": (
        "Muss aus 1 bis 32 Bytes in hexadezimalen Kleinbuchstaben bestehen."
    ),
    "Must be an id as listed.": "Muss eine id sein, wie sie in der Liste steht.",
    "can only be true; a change of the table is what unsets it": (
        "kann nur true sein; zurückgesetzt wird es durch eine Änderung des Tisches"
    ),
    "Does not go with bot.": "Geht nicht zusammen mit bot.",
    "Does not go with cursor.": "Geht nicht zusammen mit cursor.",
    "Does not go with a token.": "Geht nicht zusammen mit einem Token.",
    "Goes with turn=me only.": "Geht nur mit turn=me.",
    "Goes with a version only.": "Geht nur mit einer version.",
    "Name either a version or an attempt_id.": (
        "Nenne entweder eine version oder eine attempt_id."
    ),
    "Unknown cursor.": "Unbekannter cursor.",
    "Nobody sat there then.": "Dort saß damals niemand.",
    "Must have 1 to {most} characters.": "Muss 1 bis {most} Zeichen haben.",
    "Must not have {what}.": "Darf keine {what} enthalten.",
    "control characters": "Steuerzeichen",
    "invisible format characters": "unsichtbaren Formatzeichen",
    "unassigned characters": "nicht vergebenen Zeichen",
    "private-use characters": "Zeichen zum privaten Gebrauch",
    "surrogates": "Surrogate",
    "line separators": "Zeilentrenner",
    "paragraph separators": "Absatztrenner",
    "Must have something to see in it.": "Muss etwas Sichtbares enthalten.",
}

_DETAILS = {
    "There is nothing here that you may see.": "Hier ist nichts, was du sehen darfst.",
    "Only players registered with sandbox true name a deal.": (
        "Nur wer mit sandbox true registriert ist, gibt mit Namen aus."
    ),
    "Only players registered with sandbox true have requests refused.": (
        "Nur für Tests werden Anfragen auf Wunsch abgelehnt."
    ),
    "{header} names one of {codes}.": "{header} nennt eines von diesen: {codes}.",
    "Too many requests; try again soon.": "Zu viele Anfragen; bitte bald noch einmal.",
    "Only the clock of a sandbox game can be moved: register players with sandbox true.": (
        "Nur die Uhr eines Testspiels kann gestellt werden."
    ),
    "There is no such path.": "Diesen Pfad gibt es nicht.",
    "There is no such path, or an id in it is not written as one.": (
        "Diesen Pfad gibt es nicht, oder er enthält etwas, das keine id ist."
    ),
    "There is no such problem.": "Ein solches Problem gibt es nicht.",
    "There is no such ruleset.": "Dieses Spiel gibt es nicht.",
    "There is no such player.": "Diesen Spieler gibt es nicht.",
    "There is no such invite.": "Diese Einladung gibt es nicht.",
    "There is no such dispute that you may see.": (
        "Einen solchen Einspruch, den du sehen darfst, gibt es nicht."
    ),
    "You never had such a token.": "Ein solches Token hattest du nie.",
    "{method} is not allowed here.": "{method} ist hier nicht erlaubt.",
    "The body is too large.": "Der Inhalt ist zu groß.",
    "A body may have at most {most} bytes.": "Der Inhalt darf höchstens {most} Bytes haben.",
    "The body is not chunked as it says.": (
        "Der Inhalt ist nicht so in Stücke geteilt, wie er angibt."
    ),
    "The body ends after {received} of {announced} bytes.": (
        "Der Inhalt endet nach {received} von {announced} Bytes."
    ),
    "The request cannot be understood.": "Die Anfrage ist nicht zu verstehen.",
    "The request could not be served.": "Die Anfrage konnte nicht bedient werden.",
    "The request is not valid.": "Die Anfrage ist ungültig.",
    "The record of this game cannot be read.": (
        "Die Aufzeichnung dieses Spiels ist nicht zu lesen."
    ),
    "The record of this game is in the archive until whoever runs the service brings it back.": (
        "Die Aufzeichnung dieses Spiels ist im Archiv, bis der Betreiber des Dienstes sie "
        "zurückholt."
    ),
    "The service cannot answer this at the moment; try again.": (
        "Der Dienst kann das im Augenblick nicht beantworten; versuch es noch einmal."
    ),
    "The database has not been migrated to this release.": (
        "Die Datenbank ist noch nicht auf dem Stand dieser Version."
    ),
    "A JSON object is needed as the body.": "Als Inhalt ist ein JSON-Objekt nötig.",
    "The body must be a JSON object.": "Der Inhalt muss ein JSON-Objekt sein.",
    "The body is nested deeper than {most} levels.": (
        "Der Inhalt ist tiefer als {most} Ebenen verschachtelt."
    ),
    "Line {line}: {fault}.": "Zeile {line}: {fault}.",
    "The name {name} stands twice in one object.": (
        "Der Name {name} steht zweimal in einem Objekt."
    ),
    "The query is not UTF-8, percent-encoded.": (
        "Die Parameter sind kein UTF-8 in Prozentkodierung."
    ),
    "Idempotency-Key must be 1 to 255 visible ASCII characters.": (
        "Idempotency-Key muss aus 1 bis 255 sichtbaren ASCII-Zeichen bestehen."
    ),
    "Last-Event-ID must be the version of an event.": (
        "Last-Event-ID muss die Version eines Ereignisses sein."
    ),
    '{header} must be "*" or a list of quoted entity tags.': (
        "{header} muss „*“ oder eine Liste von ETags in Anführungszeichen sein."
    ),
    "{header} is empty.": "{header} ist leer.",
    "What is on offer: {offered}.": "Im Angebot ist: {offered}.",
    "Send the body as application/json in UTF-8.": (
        "Sende den Inhalt als application/json in UTF-8."
    ),
    "Send the body without a content encoding.": "Sende den Inhalt ohne Kodierung.",
    "Send one token, as Authorization: Bearer abbot_…": (
        "Sende genau ein Token, als Authorization: Bearer abbot_…"
    ),
    "The token is not valid, or no longer.": "Das Token ist nicht gültig, oder nicht mehr.",
    "This needs a token: Authorization: Bearer abbot_…": (
        "Das braucht ein Token: Authorization: Bearer abbot_…"
    ),
    "The ticket is not for this game, or no longer valid.": (
        "Das Ticket ist nicht für dieses Spiel, oder nicht mehr gültig."
    ),
    "This token has not the scope {scope}.": "Dieses Token hat den Scope {scope} nicht.",
    "The token that asks has not the scope {scope} itself.": (
        "Das Token, das fragt, hat den Scope {scope} selbst nicht."
    ),
    "The app's key is not valid, or no longer.": (
        "Der Schlüssel der App ist nicht gültig, oder nicht mehr."
    ),
    "This is for apps, with an app's key.": "Das ist für Apps, mit dem Schlüssel einer App.",
    "{header} goes with an app's key only.": ("{header} gehört nur zum Schlüssel einer App."),
    "An app names the player for whom it asks, as {header}.": (
        "Eine App nennt den Spieler, für den sie fragt, als {header}."
    ),
    "This app has no such player.": "Diese App hat keinen solchen Spieler.",
    "There is no such app.": "Eine solche App gibt es nicht.",
    "An app makes tokens for its players at /v1/apps/me/players.": (
        "Eine App macht Token für ihre Spieler unter /v1/apps/me/players."
    ),
    "The player has {most} tokens in force, the most at a time: revoke one.": (
        "Der Spieler hat {most} gültige Token, mehr gehen nicht auf einmal: widerrufe eines."
    ),
    "A player of an app cannot be an auditor.": ("Ein Spieler einer App kann nicht Prüfer sein."),
    "Must be visible ASCII characters.": "Müssen sichtbare ASCII-Zeichen sein.",
    "Nobody gives a scope to themselves, or takes one.": (
        "Niemand gibt sich selbst einen Scope oder nimmt sich einen."
    ),
    "This Idempotency-Key was used for another request before.": (
        "Dieser Idempotency-Key wurde schon für eine andere Anfrage benutzt."
    ),
    "The game is at version {version} now.": "Das Spiel ist jetzt bei Version {version}.",
    "You have {most} streams and waits open; that is the most at a time.": (
        "Du hast {most} Streams und Warteanfragen offen; mehr gehen nicht auf einmal."
    ),
    "A clock of yours is moving; that is the most at a time.": (
        "Gerade läuft schon eine deiner Uhren weiter; mehr geht nicht auf einmal."
    ),
    "From your address without a token {most} streams and waits are open; that is the most at a "
    "time.": (
        "Von deiner Adresse sind ohne Token {most} Streams und Warteanfragen offen; mehr gehen "
        "nicht auf einmal."
    ),
    "{quota} requests are taken for this token in one minute; try again in {seconds} s.": (
        "Für dieses Token werden {quota} Anfragen in der Minute angenommen; versuch es in "
        "{seconds} s noch einmal."
    ),
    "{quota} requests are taken for this app in one minute; try again in {seconds} s.": (
        "Für diese App werden {quota} Anfragen in der Minute angenommen; versuch es in {seconds} "
        "s noch einmal."
    ),
    "{quota} requests are taken from this address in one minute; try again in {seconds} s.": (
        "Von dieser Adresse werden {quota} Anfragen in der Minute angenommen; versuch es in "
        "{seconds} s noch einmal."
    ),
    "{quota} players may register from this address in one hour; try again in {seconds} s.": (
        "Von dieser Adresse können sich {quota} Spieler in der Stunde anmelden; versuch es in "
        "{seconds} s noch einmal."
    ),
    "You have seats in {count} tables and running games; that is the most at a time.": (
        "Du sitzt an {count} Tischen und in laufenden Spielen; mehr gehen nicht auf einmal."
    ),
    "You are host of {count} tables in the lobby; that is the most at a time.": (
        "Du bist Gastgeber von {count} Tischen in der Lobby; mehr gehen nicht auf einmal."
    ),
    "Too many are waiting here at the moment; try again.": (
        "Hier warten im Augenblick zu viele; versuch es noch einmal."
    ),
    "What another seat saw is open once the game is over.": (
        "Was ein anderer Sitz sah, ist offen, sobald das Spiel zu Ende ist."
    ),
    "You hold or held a seat in this game.": "Du hast oder hattest in diesem Spiel einen Sitz.",
    "You held no seat in this game.": "Du hattest in diesem Spiel keinen Sitz.",
    "The match is not over yet.": "Die Partie ist noch nicht zu Ende.",
    # Webhooks.
    "You have {most} webhooks; that is the most.": "Du hast {most} Webhooks; mehr gehen nicht.",
    "Only a player's own token manages webhooks.": (
        "Nur ein eigenes Token des Spielers verwaltet Webhooks."
    ),
    "You have no such webhook.": "Einen solchen Webhook hast du nicht.",
    "There is no such delivery.": "Eine solche Zustellung gibt es nicht.",
    "Nothing is sent to it until it is enabled again.": (
        "Es wird nichts dorthin geschickt, bis er wieder eingeschaltet ist."
    ),
    "Too many names are being looked up at the moment; try again.": (
        "Im Augenblick werden zu viele Namen nachgeschlagen; versuch es noch einmal."
    ),
    "Must be a URL of at most {most} visible ASCII characters.": (
        "Muss eine URL aus höchstens {most} sichtbaren ASCII-Zeichen sein."
    ),
    "Must be a URL.": "Muss eine URL sein.",
    "Must be an https URL.": "Muss eine https-URL sein.",
    "Must have no user and no fragment.": "Darf keinen Benutzer und kein Fragment haben.",
    "The port must be 443, or 1024 or above.": "Der Port muss 443 sein, oder 1024 oder darüber.",
    "There is no port 0.": "Einen Port 0 gibt es nicht.",
    "Must name a host.": "Muss einen Host nennen.",
    "Must lead to a public address.": "Muss zu einer öffentlichen Adresse führen.",
    "The host's name has no address.": "Der Name des Hosts hat keine Adresse.",
    # Disputes.
    "A seat can file {most} disputes in a game.": (
        "Ein Sitz kann in einem Spiel {most} Einsprüche erheben."
    ),
    "A dispute can get {most} resolutions.": "Ein Einspruch kann {most} Entscheide bekommen.",
    "There is no such attempt of yours.": "Einen solchen Versuch von dir gibt es nicht.",
    "Of an attempt it can be legality or time.": (
        "Bei einem Versuch kann es legality oder time sein."
    ),
    "There is no such event.": "Ein solches Ereignis gibt es nicht.",
    "It shows something only of the claim record.": "Es belegt nur etwas zum Anspruch record.",
}

SENTENCES = _TITLES | _MEANINGS | _VALUES | _DETAILS
