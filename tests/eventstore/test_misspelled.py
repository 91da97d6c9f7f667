"""A setting that nothing reads does not stay unnoticed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eventstore import misspelled

ROOT = Path(__file__).resolve().parents[2]
READ = re.compile(r"\bABBOT_[A-Z_]*[A-Z]\b")


def told(*names: str) -> list[str]:
    return list(misspelled.warnings(dict.fromkeys(names, "hush")))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ABBOT_WORKER_CONCURENCY", "ABBOT_WORKER_CONCURRENCY"),
        ("ABBOT_DATABASE", "ABBOT_DATABASE_URL"),
        ("ABBOT_BROKER_ULR", "ABBOT_BROKER_URL"),
        ("abbot_port", "ABBOT_PORT"),
        ("ABOT_PORT", "ABBOT_PORT"),
        ("ABBOT_OWNER_DB_URL", "ABBOT_OWNER_DATABASE_URL"),
    ],
)
def test_what_may_be_meant_is_named(name: str, meant: str) -> None:
    (sentence,) = told(name)
    assert sentence.startswith(f"{name} is no setting")
    assert f"Is {meant} meant?" in sentence
    assert "hush" not in sentence, "values may be secrets"


def test_what_is_like_nothing_is_told_of_too() -> None:
    (sentence,) = told("ABBOT_QQQQQQQQQQQQ")
    assert ".env.example" in sentence


def test_settings_and_what_is_not_ours_are_not_told_of() -> None:
    assert told(*misspelled.settings()) == []
    assert told("PATH", "PGHOST", "DATABASE_URL", "PORT", "HOST", "LOG_LEVEL", "BROKER_URL") == []
    assert told("ABBOT_TEST_BROKER_URL", "ABBOT_LONG", "ABBOT_SUPERVISED") == []


def test_the_list_holds_each_setting_that_the_code_reads_and_no_other() -> None:
    read: set[str] = set()
    for folder in ("api", "eventstore", "workers", "migrations", "bench"):
        for path in (ROOT / folder).rglob("*.py"):
            read |= set(READ.findall(path.read_text(encoding="utf-8")))
    read |= set(READ.findall((ROOT / "abbot").read_text(encoding="utf-8")))
    listed = misspelled.settings()
    assert listed <= read, "a setting that nothing reads"
    others = read - listed - {"ABBOT_DATA_DIR"}  # a name within the application of Flask
    assert [name for name in sorted(others) if told(name)] == []
