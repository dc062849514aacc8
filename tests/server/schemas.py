"""Whether JSON is as a schema has it, for the part of JSON Schema that descriptions of structs use."""

from __future__ import annotations

_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}


def problems(value, schema, schemas, where="$"):
    """What of `value` is not as `schema` has it; fields that the schema does not know are problems too."""
    if "$ref" in schema:
        return problems(value, schemas[schema["$ref"].rpartition("/")[2]], schemas, where)
    if "anyOf" in schema:
        found = [problems(value, one, schemas, where) for one in schema["anyOf"]]
        return [] if [] in found else [f"{where}: none of the alternatives: {found}"]
    kind = schema["type"]
    if kind == "null":
        return [] if value is None else [f"{where}: not null"]
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return [f"{where}: {value!r} is no {kind}"]
    if kind == "array":
        return _array(value, schema, schemas, where)
    return _object(value, schema, schemas, where) if kind == "object" else []


def _array(value, schema, schemas, where):
    first = schema.get("prefixItems", ())
    found = [] if len(value) >= schema.get("minItems", 0) else [f"{where}: too few items"]
    for index, item in enumerate(value):
        inner = first[index] if index < len(first) else schema["items"]
        place = f"{where}[{index}]"
        found += problems(item, inner, schemas, place) if inner else [f"{place}: one too many"]
    return found


def _object(value, schema, schemas, where):
    properties, others = schema.get("properties", {}), schema.get("additionalProperties")
    found = [f"{where}: {name} is missing" for name in schema.get("required", ()) if name not in value]
    for name, item in value.items():
        inner = properties.get(name, others)
        found += problems(item, inner, schemas, f"{where}.{name}") if inner else [f"{where}: {name} is not described"]
    return found
