"""Label selectors, compiled.

Source: k8s.io/apimachinery/pkg/labels/selector.go, pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from scheduler.api.int64 import parse_int64
from scheduler.api.validation import (
    aggregate,
    invalid,
    label_key_problems,
    label_value_problems,
)

if TYPE_CHECKING:
    from scheduler.api.meta import LabelSelector

IN: Final = "in"
NOT_IN: Final = "notin"
EQUALS: Final = "="
EXISTS: Final = "exists"
DOES_NOT_EXIST: Final = "!"
GREATER_THAN: Final = "gt"
LESS_THAN: Final = "lt"

_SUPPORTED: Final = ("=", "!=", "in", "notin", "==", "gt", "lt", "!", "exists")
_LABEL_SELECTOR_OPERATORS: Final = {
    "In": IN,
    "NotIn": NOT_IN,
    "Exists": EXISTS,
    "DoesNotExist": DOES_NOT_EXIST,
}

Labels = Mapping[str, str]
Label = tuple[str, str]


class SelectorError(ValueError):
    """A selector is not valid. ``problems`` are the API machinery's messages; the text is their aggregate."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__(aggregate(self.problems))


class Requirement(NamedTuple):
    """One condition on labels. Operators are those of ``labels.Requirement``."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Say whether labels satisfy the requirement. ``NotIn`` does so without the key, too."""
        return _MATCHERS[self.operator](self, labels.get(self.key))

    def __str__(self) -> str:
        return _WRITERS[self.operator](self.key, ",".join(sorted(self.values)))


class Selector:
    """Requirements that all must hold, or a selector that matches nothing. Immutable and hashable.

    ``requirements`` are sorted by key, with those of one key in the order they were given. ``empty`` says that
    there are none: such a selector matches everything.
    """

    __slots__ = ("_equal", "_hash", "_other", "empty", "nothing", "requirements")

    def __init__(self, requirements: Iterable[Requirement] = (), *, nothing: bool = False) -> None:
        self.requirements: tuple[Requirement, ...] = tuple(sorted(requirements, key=itemgetter(0)))
        self.nothing = nothing
        self.empty = not self.requirements and not nothing
        # Most requirements are for one value of a label; these cost one look-up each.
        self._equal = tuple((r.key, r.values[0]) for r in self.requirements if _is_equality(r))
        self._other = tuple(r for r in self.requirements if not _is_equality(r))
        self._hash = hash((self.requirements, nothing))

    @property
    def label(self) -> Label | None:
        """One that all have which the selector matches; None if there need not be one."""
        return self._equal[0] if self._equal else None

    def matches(self, labels: Labels) -> bool:
        """Say whether labels satisfy all requirements."""
        if self.nothing:
            return False
        for key, value in self._equal:
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self._other)

    def with_requirements(self, requirements: Iterable[Requirement]) -> Selector:
        """Return the selector with more requirements; one that matches nothing stays so."""
        return self if self.nothing else Selector((*self.requirements, *requirements))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Selector)
            and self._hash == other._hash
            and self.nothing == other.nothing
            and self.requirements == other.requirements
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return "Selector(nothing=True)" if self.nothing else f"Selector({str(self)!r})"


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(nothing=True)


def compile_label_selector(selector: LabelSelector | None) -> Selector:
    """Compile a label selector; None matches nothing and an empty one everything.

    Raises SelectorError if an operator, key or value is not valid.
    """
    if selector is None:
        return NOTHING
    requirements = [new_requirement(key, EQUALS, (value,)) for key, value in sorted(selector.match_labels.items())]
    for expression in selector.match_expressions:
        operator = _LABEL_SELECTOR_OPERATORS.get(expression.operator)
        if operator is None:
            raise SelectorError([f'"{expression.operator}" is not a valid label selector operator'])
        requirements.append(new_requirement(expression.key, operator, expression.values))
    return Selector(requirements) if requirements else EVERYTHING


def selector_from_set(labels: Labels) -> Selector:
    """Return the selector for these labels, unvalidated (``labels.SelectorFromSet``); {} is everything."""
    return Selector(Requirement(key, EQUALS, (value,)) for key, value in labels.items())


def new_requirement(key: str, operator: str, values: tuple[str, ...], path: str = "") -> Requirement:
    """Return a checked requirement (``labels.NewRequirement``).

    ``path`` is that of the expression in its object. Raises SelectorError with all that is wrong.
    """
    prefix = f"{path}." if path else ""
    problems = []
    key_problems = label_key_problems(key)
    if key_problems:
        problems.append(invalid(f"{prefix}key", key, "; ".join(key_problems)))
    problems += _operator_problems(operator, values, prefix)
    for index, value in enumerate(values):
        value_problems = label_value_problems(value)
        if value_problems:
            problems.append(invalid(f"{prefix}values[{index}][{key}]", value, "; ".join(value_problems)))
    if problems:
        raise SelectorError(problems)
    return Requirement(key, operator, values)


def _operator_problems(operator: str, values: tuple[str, ...], prefix: str) -> list[str]:
    path = f"{prefix}values"
    detail = None
    if operator in (IN, NOT_IN):
        detail = None if values else "for 'in', 'notin' operators, values set can't be empty"
    elif operator in (EXISTS, DOES_NOT_EXIST):
        detail = "values set must be empty for exists and does not exist" if values else None
    elif len(values) != 1:
        detail = _ONE_VALUE[operator]
    problems = [invalid(path, values, detail)] if detail is not None else []
    if operator in (GREATER_THAN, LESS_THAN):
        problems += [
            invalid(f"{path}[{index}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
            for index, value in enumerate(values)
            if parse_int64(value) is None
        ]
    return problems


def _is_equality(requirement: Requirement) -> bool:
    return requirement.operator in (EQUALS, IN) and len(requirement.values) == 1


def _greater(requirement: Requirement, value: str | None) -> bool:
    bounds = _bounds(requirement, value)
    return bounds is not None and bounds[0] > bounds[1]


def _less(requirement: Requirement, value: str | None) -> bool:
    bounds = _bounds(requirement, value)
    return bounds is not None and bounds[0] < bounds[1]


def _bounds(requirement: Requirement, value: str | None) -> tuple[int, int] | None:
    """Return the label's number and the requirement's, or None if either is not an integer."""
    number = parse_int64(value) if value is not None else None
    bound = parse_int64(requirement.values[0])
    return (number, bound) if number is not None and bound is not None else None


_ONE_VALUE: Final = {
    EQUALS: "exact-match compatibility requires one single value",
    GREATER_THAN: "for 'Gt', 'Lt' operators, exactly one value is required",
    LESS_THAN: "for 'Gt', 'Lt' operators, exactly one value is required",
}

_MATCHERS: Final[dict[str, Callable[[Requirement, str | None], bool]]] = {
    IN: lambda requirement, value: value is not None and value in requirement.values,
    EQUALS: lambda requirement, value: value is not None and value in requirement.values,
    NOT_IN: lambda requirement, value: value is None or value not in requirement.values,
    EXISTS: lambda _, value: value is not None,
    DOES_NOT_EXIST: lambda _, value: value is None,
    GREATER_THAN: _greater,
    LESS_THAN: _less,
}

_WRITERS: Final[dict[str, Callable[[str, str], str]]] = {
    IN: lambda key, values: f"{key} in ({values})",
    EQUALS: lambda key, values: f"{key}={values}",
    NOT_IN: lambda key, values: f"{key} notin ({values})",
    EXISTS: lambda key, _: key,
    DOES_NOT_EXIST: lambda key, _: f"!{key}",
    GREATER_THAN: lambda key, values: f"{key}>{values}",
    LESS_THAN: lambda key, values: f"{key}<{values}",
}
