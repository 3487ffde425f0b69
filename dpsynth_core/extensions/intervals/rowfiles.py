"""The sets of rows as files of a bundle, plausible-1.csv and so on, and pool.R beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import BinaryIO
from weakref import WeakKeyDictionary

from dpsynth_core.extensions.intervals.allowed import check_plan
from dpsynth_core.extensions.intervals.sets import Sets
from dpsynth_core.foundation.content import Digest, Writer
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zoned, public
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release.document import write_csv
from dpsynth_core.release.release import Release

SETTING, MOST_ROWS, PROGRAM = "plausible", 20_000_000, "pool.R"
_sets: WeakKeyDictionary[Release, Sets] = WeakKeyDictionary()


def name(number: int) -> str:
    """Return the file name of a set of rows by its number, from 1."""
    return f"plausible-{number}.csv"


def number_of_sets(spec: Spec) -> int:
    """Return how many sets of rows a spec asks for; 0 if none."""
    stated = spec.extensions.get(SETTING, 0)
    return stated if isinstance(stated, int) else 0


def check(plan: Plan) -> None:
    """Check that a plan can have sets of rows, and return nothing.

    Args:
        plan: The plan, whose spec asks for the sets.

    Raises:
        InputError: Its intervals are not known to hold (`check_plan`), or the sets together have more than 20 million
            rows. The number of rows is not checked if the plan does not state it.
    """
    check_plan(plan, SETTING)
    rows, sets = plan.spec.output.rows or 0, number_of_sets(plan.spec)
    if rows * sets > MOST_ROWS:
        raise InputError(SETTING, f"{sets} sets of {rows:,} rows are more than {MOST_ROWS:,} rows", "ask for fewer sets or rows")


def row_files(release: Release) -> dict[str, Writer]:
    """Return the sets of rows that a release asks for: by file name, a function that writes the file; {} without any.

    The model is computed again when the first file is written. Files of the same set are the same
    bytes wherever they are written.

    Args:
        release: The release.
    """
    if release.row_seed is None:  # an interrupted run
        return {}
    return {name(k): partial(_write, release, k) for k in range(1, number_of_sets(release.spec) + 1)}


def files(release: Release, rows: Mapping[str, Digest]) -> dict[str, Zoned[bytes]]:
    """Return pool.R, by its name, for a bundle with sets of rows; {} for others.

    Args:
        release: The release.
        rows: The files of rows, by name.
    """
    return {PROGRAM: public(program(number_of_sets(release.spec)))} if name(1) in rows else {}


def program(sets: int) -> bytes:
    """Return pool.R, a program that reads this number of sets and combines analyses, as bytes."""
    return _PROGRAM.replace("SETS", str(sets)).encode()


def _write(release: Release, number: int, stream: BinaryIO) -> None:
    if release not in _sets:
        _sets[release] = Sets.of(release)
    write_csv(_sets[release].number(number).rows, stream)


_PROGRAM = '''# Analyse the sets of rows of this bundle, and combine the results. Base R alone is needed.
#
#   source("pool.R")
#   sets <- read_sets()
#   pool_models(lapply(sets, function(rows) lm(income ~ age + sex, data = rows)))
#
# The package mitools does the same: MIcombine(with(imputationList(sets), lm(income ~ age + sex))).
#
# The spread between sets is about the error that the noise of the release makes. Intervals hold for
# analyses whose relations the measured tables hold, and for no others: marginals.csv and the report name the tables. An analysis of
# relations that no table holds finds none, with a short interval.

# The sets as a list. A column of texts has the same levels in each, also where a set lacks a value.
read_sets <- function(folder = ".", m = SETS) {
  split_sets(lapply(seq_len(m), function(k) {
    read.csv(file.path(folder, sprintf("plausible-%d.csv", k)), check.names = FALSE, stringsAsFactors = TRUE)
  }))
}

split_sets <- function(sets) {
  rows <- do.call(rbind, sets)
  unname(split(rows, rep(seq_along(sets), vapply(sets, nrow, 1L))))
}

# All sets in one file, with the columns mi_set (its number) and mi_id (the row's number in its set), for Stata:
#   import delimited plausible-long.csv
#   mi import flong, m(mi_set) id(mi_id) imputed(age income) clear
# The rows of set 0, which Stata asks for, are empty: no value of them is known. Stata imputes numbers: encode texts first.
write_long <- function(file = "plausible-long.csv", sets = read_sets()) {
  n <- nrow(sets[[1]])
  stopifnot(!any(c("mi_set", "mi_id") %in% names(sets[[1]])))
  empty <- sets[[1]]
  empty[] <- NA
  rows <- do.call(rbind, c(list(empty), sets))
  number <- rep(seq(0, length(sets)), each = n)
  long <- data.frame(mi_set = number, mi_id = rep(seq_len(n), length(sets) + 1), rows, check.names = FALSE)
  write.csv(long, file, row.names = FALSE, na = "")
}

# The sets of such a file, as a list.
read_long <- function(file = "plausible-long.csv") {
  rows <- read.csv(file, check.names = FALSE, stringsAsFactors = TRUE)
  rows <- droplevels(rows[rows$mi_set > 0, ])
  unname(split(rows[setdiff(names(rows), c("mi_set", "mi_id"))], rows$mi_set))
}

# values: a matrix with one row per set. variances: squared standard errors, of the same shape.
# of = "population": people like these, with sampling. of = "table": the table that was released, with noise alone.
# released: the results in synthetic.csv, around which intervals lie; by default, the mean of the sets.
pool <- function(values, variances, of = c("population", "table"), released = NULL, level = 0.95) {
  of <- match.arg(of)
  values <- as.matrix(values); variances <- as.matrix(variances)
  m <- nrow(values)
  stopifnot(m >= 2, all(dim(values) == dim(variances)))
  noise <- (1 + 1 / m) * apply(values, 2, var)
  within <- colMeans(variances)
  total <- if (of == "population") within + noise else noise
  degrees <- (m - 1) * pmax(1, ifelse(noise > 0, total / noise, 1e6))^2
  value <- if (is.null(released)) colMeans(values) else released
  half <- qt(0.5 + level / 2, degrees) * sqrt(total)
  data.frame(value = value, low = value - half, high = value + half, error = sqrt(total), degrees = degrees)
}

# models: a list of fitted models, one per set, of lm, glm or any class with coef and vcov.
pool_models <- function(models, ...) {
  pool(t(sapply(models, coef)), t(sapply(models, function(one) diag(vcov(one)))), ...)
}
'''
