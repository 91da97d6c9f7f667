"""The `abbot` command: one module per subcommand, and the machinery that `up` and `test` share.

`__main__` and `environment` run under the system's Python before the environment exists, so they
(and `api/__init__.py`) import the standard library only.
"""
