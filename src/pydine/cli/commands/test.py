"""``pydine test``: whether x is independent of y, alone or given z."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pydine.cli import options
from pydine.cli.commands.mi import described, listed
from pydine.cli.inputs import Request
from pydine.cli.output.answers import answer, facts, flat, pvalue
from pydine.cli.output.notes import tell, watching

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pydine.results import IndependenceTestResult

REJECTED = 3  # the code with --exit-code
EXAMPLES = options.example(
    "pydine test patients.csv -x bmi -y glucose -z age -z sex",
    "pydine test patients.csv -x bmi -y glucose --method analytic --json",
    "pydine test patients.csv -x bmi -y glucose --exit-code || echo they depend",
)


class Method(StrEnum):
    """Where p-values come from."""

    permutation = "permutation"
    analytic = "analytic"


class Statistic(StrEnum):
    """What the test looks at."""

    auto = "auto"
    gaussian = "gaussian"
    general = "general"


def independence(
    file: options.File,
    *,
    sides: options.Sides,
    alpha: options.Alpha = 0.05,
    method: Annotated[
        Method, options.of_method(help="Permute rows, or use a formula, which is instant.")
    ] = Method.permutation,
    statistic: Annotated[
        Statistic, options.of_method(help="gaussian sees correlation, general dependence without it, auto both.")
    ] = Statistic.auto,
    permutations: Annotated[int, options.of_method(min=1, metavar="N", help="Number of permutations.")] = 999,
    depending: options.Depending,
    work: options.Work,
    reading: options.Reading,
    exit_code: Annotated[
        bool,
        options.of_output(
            "--exit-code",
            metavar=options.FLAG,
            help=f"Exit with code {REJECTED} if independence is rejected, and with 0 if it is not.",
        ),
    ] = False,
    printed: options.Printed,
) -> None:
    """Whether X is independent of Y, alone or once Z is known.

    A small p-value means that such data would be rare if X were independent of Y given Z. A large one means that no
    dependence was detected, which does not prove independence.
    """
    form = printed.form
    request, is_streamed = Request(file, reading, work.seed), method is Method.analytic
    names, depends, frame = request.read_sides(sides, depending, streamed=is_streamed)
    with watching(frame.source, "Testing") as said:
        from pydine import independence_test

        result = independence_test(
            *names,
            data=frame,
            statistic=statistic.value,
            method=method.value,
            n_permutations=permutations,
            alpha=alpha,
            **work.settings(frame, depends),
        )
    record = {
        **facts(frame),
        **described(result.estimate, 0.95),
        "pvalue": result.pvalue,
        "alpha": alpha,
        "rejected": result.rejected,
        "statistic": result.statistic,
        "kind": result.kind,
        "method": result.method,
        "n_permutations": permutations if method is Method.permutation else None,
        "block_pvalues": dict(result.block_pvalues),
    }
    answer(form, record, [flat(record)], lambda: _shown(result), frame=frame)
    tell(said)
    if exit_code and result.rejected:
        raise typer.Exit(REJECTED)


def _shown(result: IndependenceTestResult) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    estimate = result.estimate
    x, y, z = (listed(block) for block in estimate.names)
    question = f"Is {x} independent of {y}" + (f" given {z}?" if z else "?")
    how = result.method if result.null_distribution is None else f"{len(result.null_distribution)} permutations"
    shown = f"p {pvalue(result.pvalue)}" if result.pvalue < 1e-4 else f"p = {pvalue(result.pvalue)}"
    verdict = (
        f"No: independence is rejected at {result.alpha:g} ({shown}, {how})."
        if result.rejected
        else f"No evidence against it: independence is not rejected at {result.alpha:g} ({shown}, {how})."
    )
    low, high = estimate.confidence_interval()
    return Group(
        Text(question, style="bold cyan"),
        Padding(Text(verdict, style="bold"), (1, 2), expand=False),
        Text(
            "Information that shows as correlation: infinite, as far as these rows show."
            if math.isinf(estimate.value)
            else f"Information that shows as correlation: {estimate.value:z.3f} nats ± {estimate.standard_error:.3f}, "
            f"95% interval {low:.3f} to {high:.3f}."
        ),
        Text(f"{estimate.n_samples:,} rows, {result.kind} statistic", style="dim"),
    )
