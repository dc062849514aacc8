"""The Prometheus text format 0.0.4, byte for byte as Go's expfmt package writes it.

prometheus_client's own writer says le="1.0" where kube-scheduler says le="1", which makes two series of one
to whoever selects by that label.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})
_LABEL_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def go_float(value: float) -> str:
    """`value` as Go's strconv.FormatFloat(value, 'g', -1, 64): shortest digits, exponents from 1e+06."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        text = repr(float(value))
        return text.removesuffix(".0")
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    mantissa = "".join(map(str, digits))
    if len(mantissa) > 1:
        mantissa = f"{mantissa[0]}.{mantissa[1:]}"
    return f"{'-' if sign else ''}{mantissa}e{len(digits) - 1 + int(exponent):+03d}"


def render(registry: CollectorRegistry) -> bytes:
    """All families of `registry` that have samples, by name."""
    families = {_exposed_name(family): family for family in registry.collect()}
    return "".join(render_family(name, families[name]) for name in sorted(families)).encode()


def render_family(name: str, family: Metric) -> str:
    """HELP, TYPE and the samples of one family; nothing if it has none."""
    if not family.samples:
        return ""
    lines = [header(name, family.documentation, family.type)]
    lines += [f"{sample.name}{label_text(sample.labels)} {_number(sample.value)}\n" for sample in family.samples]
    return "".join(lines)


def header(name: str, text: str, kind: str) -> str:
    """The two comment lines before a family's samples."""
    return f"# HELP {name} {text.translate(_HELP_ESCAPES)}\n# TYPE {name} {kind}\n"


def label_text(labels: Mapping[str, str]) -> str:
    """Labels in braces, by name but for a histogram's bound, which comes last."""
    if not labels:
        return ""
    names = sorted(labels, key=lambda name: (name == "le", name))
    return "{" + ",".join(f'{name}="{labels[name].translate(_LABEL_ESCAPES)}"' for name in names) + "}"


def _exposed_name(family: Metric) -> str:
    return f"{family.name}_total" if family.type == "counter" else family.name


def _number(value: float) -> str:
    # Counts of a histogram are integers in Go's format too, however big; everything else is a float.
    return str(value) if isinstance(value, int) else go_float(value)
