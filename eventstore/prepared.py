"""The statements of each request, given to libpq as the bytes that go over the wire.

A cursor finds out each time of what type every parameter is and who converts it. With the 27
parameters of an append that takes longer than everything else that a process does for a move.
Whoever runs the same statement each time knows its types, and so says them once here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any, LiteralString

from psycopg import OperationalError, generators
from psycopg.errors import (
    DuplicatePreparedStatement,
    InvalidSqlStatementName,
    error_from_result,
)
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from .pool import BoundedConnection, Row

TEXT, BINARY = 0, 1
"""libpq's codes of formats."""

Encoder = Callable[[Any], bytes]

_DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


class Prepared:
    """A statement with parameters `%(name)s`.

    `encoders` gives for each name what makes bytes of a value that is not None: the text that the
    server reads, or for the names in `binary` its own representation. Columns come as the latter.
    """

    def __init__(
        self,
        name: str,
        statement: LiteralString,
        encoders: Mapping[str, Encoder],
        binary: frozenset[str] = frozenset(),
    ) -> None:
        self.parameters = tuple(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
        self.name = name
        self._name = name.encode()
        numbers = {each: f"${n}" for n, each in enumerate(self.parameters, 1)}
        self._text = re.sub(r"%\((\w+)\)s", lambda found: numbers[found[1]], statement).encode()
        self._encoders = tuple(encoders[each] for each in self.parameters)
        self.binary = binary
        self._formats = [BINARY if each in binary else TEXT for each in self.parameters]

    def run(self, connection: BoundedConnection, values: tuple[Any, ...]) -> PGresult:
        """The result for `values`, in the order of `parameters`. psycopg.Error as it comes."""
        encoded = [
            None if value is None else encode(value)
            for value, encode in zip(values, self._encoders, strict=True)
        ]
        pgconn = connection.pgconn
        with connection.lock:
            if self._is_prepared(connection):
                pgconn.send_query_prepared(self._name, encoded, self._formats, BINARY)
                try:
                    return _result(connection)
                except InvalidSqlStatementName:
                    # Nothing was run. After a rollback psycopg deallocates all that was prepared.
                    connection.used.clear()
                    if pgconn.transaction_status != TransactionStatus.IDLE:
                        raise
            pgconn.send_query_params(
                self._text, encoded, param_formats=self._formats, result_format=BINARY
            )
            return _result(connection)

    def rows(self, connection: BoundedConnection, parameters: Mapping[str, Any]) -> list[Row]:
        """The rows for `parameters`, of which there may be more than it has."""
        values = tuple([parameters[name] for name in self.parameters])
        result = self.run(connection, values)
        loader = connection.loader
        loader.set_pgresult(result)
        try:
            return loader.load_rows(0, result.ntuples, tuple)
        finally:
            loader.set_pgresult(None)

    def _is_prepared(self, connection: BoundedConnection) -> bool:
        """As a cursor does: prepared once it has run so often, and never behind a pooler that may
        have another session run the next statement."""
        threshold = connection.prepare_threshold
        if threshold is None:
            return False
        used = connection.used.get(self._name, 0)
        if used == threshold:
            connection.pgconn.send_prepare(self._name, self._text)
            # Whoever was interrupted here may have prepared it without counting that.
            with contextlib.suppress(DuplicatePreparedStatement):
                _result(connection)
        if used <= threshold:
            connection.used[self._name] = used + 1
        return used >= threshold


def _result(connection: BoundedConnection) -> PGresult:
    results: list[PGresult] = connection.wait(generators.execute(connection.pgconn))
    if not results:
        raise OperationalError("the database sent no answer")
    result = results[-1]
    if result.status not in _DONE:
        raise error_from_result(result)
    return result
