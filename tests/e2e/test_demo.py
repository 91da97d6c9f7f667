"""The demo plays whole matches against a real installation and finds its record in order."""

from __future__ import annotations

import pytest

from api.command import demo
from tests.e2e.conftest import Installation
from tests.workers.servers import free_port


@pytest.mark.parametrize(
    "ruleset", ["halleluja", pytest.param("vallelujah", marks=pytest.mark.long)]
)
def test_a_whole_match_is_played_and_folds_to_what_the_api_shows(
    installation: Installation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ruleset: str,
) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", installation.scratch.app_url)
    code = demo.main(["--url", installation.api.url, "--ruleset", ruleset, "--seed", "1"])
    told = capsys.readouterr()
    assert code == 0, told.err
    assert "time has run out" in told.out
    assert "from the public record" in told.out
    assert "from the event store" in told.out
    assert told.out.count("equal to the API in all") == 2
    assert f"{ruleset}: won by" in told.out or f"{ruleset}: drawn" in told.out


def test_without_a_server_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--url", f"http://127.0.0.1:{free_port()}"]) == 1
    assert "no server answers" in capsys.readouterr().err
