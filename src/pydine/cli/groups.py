"""Groups of options: a dataclass whose fields are options, taken by a command as one parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def spelled_out(command: Callable[..., None]) -> Callable[..., None]:
    """A command as typer takes it: a parameter that is a group of options becomes its options, in its place."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if (group := groups.get(parameter.name)) is None:
            parameters.append(_option(parameter.name, hints[parameter.name], parameter.default))
            continue
        inner = get_type_hints(group, include_extras=True)
        parameters += [_option(field.name, inner[field.name], field.default) for field in fields(group)]

    @wraps(command)
    def run(**values: Any) -> None:
        gathered = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **gathered)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _option(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kept = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=kept, annotation=hint)
