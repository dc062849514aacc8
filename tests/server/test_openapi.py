"""The description of the decisions API."""

from __future__ import annotations

import json

from scheduler.server.explain import Choice
from scheduler.server.openapi import description


def test_it_is_an_openapi_document_whose_references_all_lead_somewhere():
    text = description("1.2.3")
    document = json.loads(text)
    assert (document["openapi"], document["x-berth-version"]) == ("3.1.0", "1.2.3")
    used = {part.partition('"')[0] for part in text.decode().split("#/components/schemas/")[1:]}
    assert used == set(document["components"]["schemas"])
    assert {"Decision", "PodView", "Refusal", "EvictionRecord"} <= used


def test_operations_have_names_of_their_own_and_describe_every_parameter_in_their_paths():
    operations = {path: parts["get"] for path, parts in json.loads(description("1"))["paths"].items()}
    assert len({operation["operationId"] for operation in operations.values()}) == len(operations)
    for path, operation in operations.items():
        named = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"]
        assert named == [part[1:-1] for part in path.split("/") if part.startswith("{")]


def test_the_query_is_what_the_server_takes():
    parameters = json.loads(description("1"))["paths"]["/explain/v1/decisions"]["get"]["parameters"]
    assert tuple(one["name"] for one in parameters) == Choice.__slots__
