"""Archives of months: custom-format dumps of one detached partition, made and read by PostgreSQL's
own programs."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from api.command import postgres_tools
from api.command.console import CommandFailed
from eventstore import backups
from eventstore.archives import COLUMNS, Contents, contents
from eventstore.partitions import Partitions

_MADE_BY = re.compile(r"^; +Dumped by pg_dump version: (\d+)", re.M)
_TABLE = re.compile(r"^\d+; \d+ \d+ TABLE (?!DATA )\S+ (\S+) ", re.M)
_COPY = re.compile(rb"COPY (?:\S+\.)?(\S+) \((.+)\) FROM stdin;\n")
_END = b"\\.\n"
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class Archive(NamedTuple):
    """The month that a file is the archive of, what it holds, and the major version of the pg_dump
    that wrote it."""

    name: str
    contents: Contents
    made_by: int


def write(partitions: Partitions, url: str, name: str, file: Path) -> Archive:
    """Have `file`, which must not exist yet, hold the detached month, and read it again.

    Raises CommandFailed or PartitionError, and then there is no such file.
    """
    partitions.expect_detached(name)
    if os.path.lexists(file):
        raise CommandFailed(f"there is a file {file} already, and it is left alone")
    tool = postgres_tools.for_dump(backups.server_version(url))
    try:
        descriptor, made = tempfile.mkstemp(".partial", f"{file.name}.", file.absolute().parent)
    except OSError as error:
        raise CommandFailed(f"{file} cannot be made: {error.strerror}") from None
    partial = Path(made)
    try:
        os.close(descriptor)
        postgres_tools.dump(tool, url, partial, "--encoding=UTF8", f"--table={name}")
        archive = read(partial)
        if (archive.name, archive.contents) != (name, partitions.contents(name)):
            raise CommandFailed(f"what pg_dump wrote is not what is in {name}")
        _keep(partial, file)
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    return archive


def read(file: Path) -> Archive:
    """What is in an archive; all of it is read. CommandFailed where it is none."""
    try:
        file.open("rb").close()
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from None
    tool = postgres_tools.newest("pg_restore")
    with postgres_tools.output(tool, "--list", str(file)) as said:
        listed = said.read().decode(errors="replace")
    made_by, tables = _MADE_BY.search(listed), _TABLE.findall(listed)
    if made_by is None or len(tables) != 1:
        raise CommandFailed(f"{file} is not the archive of a month")
    with postgres_tools.output(tool, "--data-only", "--file=-", str(file)) as script:
        return Archive(tables[0], contents(_rows(script, tables[0], file)), int(made_by[1]))


def restore(partitions: Partitions, url: str, file: Path) -> Archive:
    """Bring an archived month's table back; it stays detached. Raises CommandFailed or
    PartitionError, and then nothing was changed."""
    archive = read(file)
    partitions.expect_elsewhere(archive.name)
    tool = postgres_tools.for_restore(backups.server_version(url), archive.made_by)
    postgres_tools.restore(tool, url, file)
    return archive


def _rows(script: IO[bytes], name: str, file: Path) -> Iterator[bytes]:
    """The rows that a script copies into its only table."""
    columns = ", ".join(COLUMNS).encode()
    for line in script:
        if line.startswith(b"COPY "):
            told = _COPY.fullmatch(line)
            if told is None or told[1] != name.encode() or told[2] != columns:
                raise CommandFailed(f"{file} is not the archive of a month")
            break
    for line in script:
        if line == _END:
            return
        yield line[:-1]
    raise CommandFailed(f"{file} is damaged: it ends before its events do")


def _keep(partial: Path, file: Path) -> None:
    """Give a file its name once its bytes are safe, unless another has the name by now."""
    for path in (partial, partial.parent):
        _sync(path)
    try:
        file.hardlink_to(partial)
    except OSError as error:
        if error.errno not in _NO_LINKS or os.path.lexists(file):
            raise
        partial.rename(file)
    _sync(partial.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
