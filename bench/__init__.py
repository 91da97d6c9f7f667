"""Measurements, run by `./abbot bench NAME`: each module here is one, with `main(argv)`.

They print tables for people and, as the last line, one JSON object `{figure: {value, goal,
holds}}`. What several of them need is in `common`.
"""
