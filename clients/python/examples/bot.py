"""A bot for a whole match. `bot.py GAME` sits down at that table; `bot.py halleluja` opens one,
seats a computer player and starts. ABBOT_URL says where, ABBOT_TOKEN as whom (else a new player).
"""

import os
import random
import sys
from contextlib import suppress

from abbot_client import Abbot, TooLate, filled

url, token = os.environ["ABBOT_URL"], os.environ.get("ABBOT_TOKEN")
abbot = Abbot(url, token) if token else Abbot.register(url, "Bot")
game_id = sys.argv[1]
if game_id in ("halleluja", "vallelujah"):
    game_id = str(abbot.create_game(game_id, options={"rounds_to_win": 1}).game_id)
    abbot.take_seat(game_id, bot="greedy")
    abbot.start(game_id)
else:
    abbot.take_seat(game_id)

for turn in abbot.turns(game_id):
    with suppress(TooLate):
        abbot.move(game_id, filled(random.choice(turn.legal_moves)))
print(abbot.game(game_id).status)
