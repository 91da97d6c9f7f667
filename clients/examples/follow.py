"""Keeps a game's events in a file: `follow.py GAME FILE`, with ABBOT_URL and ABBOT_TOKEN.

It may be ended at any moment, and goes on where it was: each event is in the file once, none is
missing. It has a line for each version from 1, so its lines say where to go on.

The file is what was told while the match was played, so what was hidden then is missing, and
nothing in it is signed: `./abbot verify` refuses it. A record to verify is what
`GET /v1/games/GAME/events` gives as `application/x-ndjson`.
"""

import json
import os
import sys
from pathlib import Path

from abbot_client import Abbot

abbot = Abbot(os.environ["ABBOT_URL"], os.environ["ABBOT_TOKEN"])
game_id, path = sys.argv[1], Path(sys.argv[2])

# A line that was being written when this was ended is no line.
lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
whole = [line for line in lines if line.endswith("\n")]
path.write_text("".join(whole), "utf-8")

with path.open("a", encoding="utf-8") as file:
    for event in abbot.stream(game_id, after=len(whole)):
        file.write(json.dumps(event.to_dict()) + "\n")
        file.flush()
