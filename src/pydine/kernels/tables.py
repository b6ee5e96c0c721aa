"""The table of codes x and y in each cell of codes z, and the null distribution of its likelihood-ratio statistic."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, exp, log
from pydine.kernels.compilation import compiled


@compiled()
def _by_margin(table):
    """Rows in the order of their sums, frequent ones first; then by how uneven they and their columns are."""
    rows, columns = table.shape
    keys, order = np.zeros((rows, 6)), np.arange(rows)
    sums, squares, uneven = np.zeros(columns), np.zeros(columns), np.zeros(columns)
    for i in range(rows):
        for j in range(columns):
            sums[j] += table[i, j]
            squares[j] += table[i, j] * table[i, j]
            keys[i, 0] -= table[i, j]
            keys[i, 1] += table[i, j] * table[i, j]
    for i in range(rows):
        for j in range(columns):
            uneven[j] += table[i, j] * keys[i, 1]
    for i in range(rows):
        for j in range(columns):
            keys[i, 2] += table[i, j] * table[i, j] * sums[j]
            keys[i, 3] += table[i, j] * squares[j]
            keys[i, 4] += table[i, j] * table[i, j] * squares[j]
            keys[i, 5] += table[i, j] * uneven[j]
    for i in range(1, rows):
        row, place = order[i], i
        while place > 0:
            before, level = order[place - 1], 0
            while level < 5 and keys[before, level] == keys[row, level]:
                level += 1
            if keys[before, level] <= keys[row, level]:
                break
            order[place] = before
            place -= 1
        order[place] = row
    return order


@compiled()
def _by_code(codes, z, levels, starts):
    """Rows in the order of their cells of z, which begin at `starts`, and of their codes within these."""
    counts, places = np.zeros(levels + 1, dtype=np.int64), starts[:-1].copy()
    for code in codes:
        counts[code + 1] += 1
    for k in range(levels):
        counts[k + 1] += counts[k]
    sorted_rows, order = np.empty(codes.shape[0], dtype=np.int64), np.empty(codes.shape[0], dtype=np.int64)
    for i in range(codes.shape[0]):
        sorted_rows[counts[codes[i]]] = i
        counts[codes[i]] += 1
    for i in sorted_rows:
        order[places[z[i]]] = i
        places[z[i]] += 1
    return order


@compiled()
def _numbered(codes, rows, found):
    """Codes of rows that are in the order of their codes, as numbers from 0 on, into `found`; returns how many."""
    count = 0
    for i in range(rows.shape[0]):
        count += 1 if i == 0 or codes[rows[i]] != codes[rows[i - 1]] else 0
        found[rows[i]] = count - 1
    return count


@compiled("(int64[::1], int64[::1], int64[::1], int64[::1])")
def stratified(x, y, z, levels):
    """Likelihood-ratio statistic G of x and y in each cell of z, and the tables of two by two that it consists of.

    Parameters
    ----------
    x, y, z : (n,) int64, codes from 0 on, less than `levels`, three integers

    Returns
    -------
    g : float, the sum over cells, that is 2 n nats
    margins : (m, 3) int64, rows, marked ones and drawn ones of each table of two by two
    varying : (3,) int64, rows in cells where x varies, and where y does, and cells that have rows
    """
    n = x.shape[0]
    check(y.shape[0] == n and z.shape[0] == n)
    for i in range(n):
        check(0 <= x[i] < levels[0] and 0 <= y[i] < levels[1] and 0 <= z[i] < levels[2])
    starts = np.zeros(levels[2] + 1, dtype=np.int64)
    for i in range(n):
        starts[z[i] + 1] += 1
    for k in range(levels[2]):
        starts[k + 1] += starts[k]
    by_x, by_y = _by_code(x, z, levels[0], starts), _by_code(y, z, levels[1], starts)
    here_x, here_y = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    varying, g, m = np.zeros(3, dtype=np.int64), 0.0, 0
    margins = np.empty((max(n, 1), 3), dtype=np.int64)
    for cell in range(levels[2]):
        rows = by_x[starts[cell] : starts[cell + 1]]
        r, c = _numbered(x, rows, here_x), _numbered(y, by_y[starts[cell] : starts[cell + 1]], here_y)
        varying[0] += rows.shape[0] if r > 1 else 0
        varying[1] += rows.shape[0] if c > 1 else 0
        varying[2] += 1 if r > 0 else 0
        if r < 2 or c < 2:
            continue
        table = np.zeros((r, c))
        for i in range(rows.shape[0]):
            table[here_x[rows[i]], here_y[rows[i]]] += 1.0
        by_row, by_column = _by_margin(table), _by_margin(table.T.copy())
        corner = np.zeros((r + 1, c + 1))  # sums over rows and columns before a place
        for i in range(r):
            for j in range(c):
                count = table[by_row[i], by_column[j]]
                corner[i + 1, j + 1] = count + corner[i, j + 1] + corner[i + 1, j] - corner[i, j]
                g += 2.0 * count * log(count) if count > 0.0 else 0.0
        for i in range(r):
            size = corner[i + 1, c] - corner[i, c]
            g -= 2.0 * size * log(size)
        for j in range(c):
            size = corner[r, j + 1] - corner[r, j]
            g -= 2.0 * size * log(size)
        g += 2.0 * corner[r, c] * log(corner[r, c])
        while m + (r - 1) * (c - 1) > margins.shape[0]:
            margins = np.concatenate((margins, np.empty_like(margins)))
        for i in range(1, r):
            for j in range(1, c):
                margins[m, 0], margins[m, 1] = corner[i + 1, j + 1], corner[i + 1, j]
                margins[m, 2] = corner[i, j + 1]
                m += 1
    return g, margins[:m].copy(), varying


@compiled("(int64[:, ::1], float64, int64)")
def added_up(margins, found, grid):
    """Distribution of the sum of the G of tables of two by two, on `grid` steps from 0 to `found`, and from there on.

    The count of marked ones among the drawn is hypergeometric.

    Parameters
    ----------
    margins : (m, 3) int64, rows, marked ones and drawn ones of each table
    found : float, positive
    grid : int

    Returns
    -------
    (grid + 1,) float64, probabilities of the nearest steps; the last is that of `found` or more
    """
    largest = 0
    for i in range(margins.shape[0]):
        check(0 <= margins[i, 1] <= margins[i, 0] and 0 <= margins[i, 2] <= margins[i, 0])
        largest = max(largest, margins[i, 0])
    factorials, entropies = np.zeros(largest + 1), np.zeros(largest + 1)
    for k in range(1, largest + 1):
        factorials[k] = factorials[k - 1] + log(float(k))
        entropies[k] = k * log(float(k))
    sums, more, shares = np.zeros(grid + 1), np.zeros(grid + 1), np.zeros(grid + 1)
    sums[0] = 1.0
    top = 0  # the last step before `grid` that can be reached
    nearest = grid if margins.shape[0] > 1 else grid - 1  # one table alone is exact: `found` is one of its values
    for i in range(margins.shape[0]):
        total, marked, drawn = margins[i, 0], margins[i, 1], margins[i, 2]
        rest = total - marked - drawn
        low, high = max(0, -rest), min(marked, drawn)
        whole = factorials[marked] + factorials[total - marked] + factorials[drawn] + factorials[total - drawn]
        whole -= factorials[total]
        fixed = entropies[total] - entropies[marked] - entropies[total - marked]
        fixed -= entropies[drawn] + entropies[total - drawn]
        shares[:] = 0.0
        beyond = 0
        for count in range(low, high + 1):
            chance = exp(
                whole
                - factorials[count]
                - factorials[marked - count]
                - factorials[drawn - count]
                - factorials[rest + count]
            )
            value = entropies[count] + entropies[marked - count] + entropies[drawn - count] + entropies[rest + count]
            value = 2.0 * (value + fixed) / found
            place = grid if value >= 1.0 else max(min(int(value * grid + 0.5), nearest), 0)
            shares[place] += chance
            beyond = max(beyond, place) if place < grid else beyond
        more[:] = 0.0
        after = 0.0  # what is as far as `grid`, less the place of the step
        for place in range(grid + 1):
            after += sums[grid - place]
            if shares[place] > 0.0:
                more[grid] += shares[place] * after
                for k in range(min(top + 1, grid - place)):
                    more[place + k] += shares[place] * sums[k]
        top = min(top + beyond, grid - 1)
        sums, more = more, sums
    return sums
