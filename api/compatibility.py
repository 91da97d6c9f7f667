"""What in a newer OpenAPI document would break a client of an older one.

Requests may be taken more freely, answers may say more; neither may go the other way. Lists of
values (`enum`) are closed in both: what may grow is a plain string in the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .document import METHODS, Document, resolved

Node = dict[str, Any]

_LOWER = ("minimum", "minLength", "minItems", "exclusiveMinimum")
_UPPER = ("maximum", "maxLength", "maxItems", "exclusiveMaximum")


def breaking_changes(old: Document, new: Document) -> list[str]:
    """Each change that breaks, as a sentence that begins with where it is; none: compatible."""
    comparison = _Comparison(old, new)
    return list(dict.fromkeys([*comparison.paths(), *comparison.webhooks()]))


class _Comparison:
    def __init__(self, old: Document, new: Document) -> None:
        self.old, self.new = old, new
        self._seen: set[tuple[str, str, bool]] = set()

    def paths(self) -> Iterator[str]:
        for path, item in self.old["paths"].items():
            for method in METHODS:
                if method not in item:
                    continue
                where = f"{method.upper()} {path}"
                newer = self.new["paths"].get(path, {})
                if method not in newer:
                    yield f"{where}: the operation is gone"
                else:
                    yield from self._operation(where, item, newer, method)

    def webhooks(self) -> Iterator[str]:
        """The same of the calls that the server makes: what they say is given."""
        for name, item in self.old.get("webhooks", {}).items():
            where, newer = f"webhook {name}", self.new.get("webhooks", {}).get(name)
            if newer is None:
                yield f"{where}: it is gone"
                continue
            old, new = item["post"], newer["post"]
            had, has = self._named(self.old, {}, old), self._named(self.new, {}, new)
            for _, header in had.keys() - has.keys():
                yield f"{where}: the header {header} is gone"
            before, after = (each["requestBody"]["content"] for each in (old, new))
            for media, content in before.items():
                newest = after.get(media, {}).get("schema", {})
                yield from self._schema(f"{where} body", content["schema"], newest, sent=False)

    def _operation(self, where: str, old_item: Node, new_item: Node, method: str) -> Iterator[str]:
        old, new = old_item[method], new_item[method]
        if old["operationId"] != new["operationId"]:
            yield f"{where}: its id was {old['operationId']}"
        wanted = new.get("security", self.new.get("security", []))
        for way in old.get("security", self.old.get("security", [])) or [{}]:
            if way not in (wanted or [{}]):
                yield f"{where}: authentication as {way or 'nobody'} is no longer taken"
        yield from self._parameters(
            where,
            self._named(self.old, old_item, old),
            self._named(self.new, new_item, new),
        )
        yield from self._body(where, old.get("requestBody", {}), new.get("requestBody", {}))
        for status, answer in old["responses"].items():
            at = f"{where} {status}"
            if status not in new["responses"]:
                yield f"{at}: the status is gone"
                continue
            yield from self._answer(at, answer, new["responses"][status])
        for status in new["responses"]:
            if status.startswith("2") and status not in old["responses"]:
                yield f"{where} {status}: a success that there was not"

    @staticmethod
    def _named(document: Document, item: Node, operation: Node) -> dict[tuple[str, str], Node]:
        listed = (*item.get("parameters", ()), *operation.get("parameters", ()))
        found = (resolved(document, each) for each in listed)
        return {(each["in"], each["name"]): each for each in found}

    def _parameters(
        self, where: str, old: dict[tuple[str, str], Node], new: dict[tuple[str, str], Node]
    ) -> Iterator[str]:
        for key, parameter in old.items():
            at = f"{where} {key[0]} {key[1]}"
            if key not in new:
                yield f"{at}: the parameter is gone"
                continue
            if new[key].get("required") and not parameter.get("required"):
                yield f"{at}: is required now"
            yield from self._schema(at, parameter["schema"], new[key]["schema"], sent=True)
        for key, parameter in new.items():
            if key not in old and parameter.get("required"):
                yield f"{where} {key[0]} {key[1]}: a new parameter is required"

    def _body(self, where: str, old: Node, new: Node) -> Iterator[str]:
        if new.get("required") and not old.get("required"):
            yield f"{where}: a body is required now"
        for media, content in old.get("content", {}).items():
            if media not in new.get("content", {}):
                yield f"{where}: {media} is no longer taken"
            else:
                newer = new["content"][media]["schema"]
                yield from self._schema(f"{where} body", content["schema"], newer, sent=True)

    def _answer(self, where: str, old: Node, new: Node) -> Iterator[str]:
        old, new = resolved(self.old, old), resolved(self.new, new)
        for name in old.get("headers", {}):
            if name not in new.get("headers", {}):
                yield f"{where}: the header {name} is gone"
        for media, content in old.get("content", {}).items():
            if media not in new.get("content", {}):
                yield f"{where}: {media} is no longer given"
            else:
                newer = new["content"][media]["schema"]
                yield from self._schema(f"{where} answer", content["schema"], newer, sent=False)

    def _schema(self, where: str, old: Node, new: Node, *, sent: bool) -> Iterator[str]:
        if "$ref" in old and "$ref" in new:
            # Said once, at the first place.
            key = (old["$ref"], new["$ref"], sent)
            if key in self._seen:
                return
            self._seen.add(key)
            where = f"{old['$ref'].rpartition('/')[2]} ({'sent' if sent else 'given'})"
        old, new = resolved(self.old, old), resolved(self.new, new)
        yield from self._value(where, old, new, sent=sent)
        yield from self._properties(where, old, new, sent=sent)
        for name in ("items", "additionalProperties"):
            if isinstance(old.get(name), dict) and isinstance(new.get(name), dict):
                yield from self._schema(f"{where}[]", old[name], new[name], sent=sent)
        yield from self._variants(where, old, new, sent=sent)

    def _value(self, where: str, old: Node, new: Node, *, sent: bool) -> Iterator[str]:
        for name in ("type", "format"):
            if old.get(name) != new.get(name) and not (sent and name not in new):
                yield f"{where}: its {name} was {old.get(name)}, and is {new.get(name)}"
        before, after = _values(old), _values(new)
        narrower = after is not None and (before is None or not before <= after)
        wider = before is not None and (after is None or not after <= before)
        if (sent and narrower) or (not sent and wider):
            yield f"{where}: its values were {_told(before)}, and are {_told(after)}"
        if not sent:
            return
        for names, sign in ((_LOWER, 1), (_UPPER, -1)):
            for name in names:
                if name in new and (name not in old or sign * (new[name] - old[name]) > 0):
                    yield f"{where}: its {name} was {old.get(name)}, and is {new[name]}"
        if "pattern" in new and new["pattern"] != old.get("pattern"):
            yield f"{where}: its pattern was {old.get('pattern')}, and is {new['pattern']}"

    def _properties(self, where: str, old: Node, new: Node, *, sent: bool) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        must, now = set(old.get("required", ())), set(new.get("required", ()))
        for name, schema in before.items():
            at = f"{where}.{name}"
            if name not in after:
                yield f"{at}: is gone"
            else:
                yield from self._schema(at, schema, after[name], sent=sent)
        for name in sorted(now - must if sent else must - now):
            if sent:
                yield f"{where}.{name}: is required now"
            elif name in after:
                yield f"{where}.{name}: may be absent now"
        closed = new.get("additionalProperties") is False
        if sent and closed and old.get("additionalProperties") is not False:
            yield f"{where}: takes no other members now"

    def _variants(self, where: str, old: Node, new: Node, *, sent: bool) -> Iterator[str]:
        for name in ("anyOf", "oneOf"):
            newer = {_variant(each): each for each in new.get(name, ())}
            for each in old.get(name, ()):
                if _variant(each) not in newer:
                    yield f"{where}: {_variant(each)} is no longer one of its variants"
                else:
                    yield from self._schema(where, each, newer[_variant(each)], sent=sent)


def _variant(schema: Node) -> str:
    return str(schema.get("$ref") or schema.get("type"))


def _values(schema: Node) -> set[Any] | None:
    if "const" in schema:
        return {schema["const"]}
    return set(schema["enum"]) if "enum" in schema else None


def _told(values: set[Any] | None) -> str:
    return "any" if values is None else ", ".join(sorted(map(str, values)))
