#!/bin/sh
# Plays a match with curl: `play.sh GAME`, with ABBOT_URL and ABBOT_TOKEN. At the end it prints the record.
#
# Any answer can be lost. So curl sends again what failed, and each move has a key of its own: however
# often it arrives, it counts once, and each time gets the same answer.
set -eu

game=$ABBOT_URL/v1/games/$1
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

call() { # the answer goes to a file, so that of one that breaks off nothing stays behind
    curl --silent --show-error --output "$answer" --max-time 60 \
        --retry 30 --retry-all-errors --retry-delay 1 --retry-max-time 120 \
        --header "Authorization: Bearer $ABBOT_TOKEN" "$@"
}

look() { # what to do now: `over`, `wait VERSION`, or the first legal move, ready to be sent
    python3 -c '
import json, sys

game = json.load(open(sys.argv[1]))
if "status" not in game or "code" in game:
    sys.exit(game.get("detail", "no game"))
if "result" in game:
    print("over")
elif moves := game.get("you", {}).get("legal_moves"):
    move = moves[0]["move"]
    if "call_due" in moves[0]:
        move["call"] = moves[0]["call_due"]
    if "take_from" in moves[0]:
        move["take"] = moves[0]["take_from"][0]
    print(json.dumps(move))
else:
    print("wait", game["version"])
' "$answer"
}

while :; do
    call "$game"
    next=$(look)
    case $next in
        over) break ;;
        wait*) call "$game/events?wait=30&after=${next#wait }" ;;
        *)
            key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
            call "$game/moves" --header "Idempotency-Key: $key" \
                --header 'Content-Type: application/json' --data "$next"
            ;;
    esac
done
call "$game/events" --header 'Accept: application/x-ndjson'
cat "$answer"
