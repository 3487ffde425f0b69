"""A shell in scikit-learn's manner around plan, run and release. scikit-learn itself is not needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.interface.columns import Columns
from dpsynth_core.interface.plan import Options, Plan, Tables, plan
from dpsynth_core.interface.release import Release, sample


class Synthesizer:
    """A synthesizer in the style of scikit-learn: parameters in the constructor, one `fit`, then `sample`.

    Every fit spends budget. A second fit is refused, and cross-validation or a grid search must not be used: each fit would be
    charged.

    Args:
        columns: What each column may contain, as for `plan`.
        epsilon: Privacy parameter of the release.
        tables: Number of columns k if the counts of all tables of k columns must be accurate, or a list of tables;
            None stands for 3, or for the tables of rows in order.
        population: Name of the people, whose ledger account is charged; None charges no account.
        options: The other options of `plan`, by name.

    Attributes:
        plan_: The plan that was run.
        release_: The release, with its bundle, its errors and its verdict.

    Examples:
        >>> import dpsynth_core as dps
        >>> options = {"mechanism": "independent"}
        >>> fitted = dps.Synthesizer({"sex": ["female", "male"]}, epsilon=1, tables=1, options=options).fit("demo")
        >>> len(fitted.sample(5))
        5
    """

    plan_: Plan
    release_: Release

    def __init__(
        self,
        columns: Columns,
        *,
        epsilon: float,
        tables: Tables | None = None,
        population: str | None = None,
        options: Options | None = None,
    ) -> None:
        self.columns, self.epsilon, self.tables, self.population, self.options = columns, epsilon, tables, population, options

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002  # scikit-learn's signature
        """Plan a release of the table `X` and make it, which spends the budget. `y` is not used.

        The release is stored in DPSYNTH_HOME. With a population whose ledger shows that this plan was already run
        on this very table, that earlier release is taken and nothing is spent. Return this synthesizer, whose
        `plan_` and `release_` are now set.

        Raises:
            InputError: It was fitted before, or `plan` or `Plan.run` refuses; nothing is spent.
            ChargedError: The run failed after records were read; what it cost stays spent.
        """
        if hasattr(self, "release_"):
            raise InputError("fit", "this was fitted before, and each fit is charged", "make another Synthesizer, if that is what you want")
        self.plan_ = plan(X, self.columns, epsilon=self.epsilon, tables=self.tables, population=self.population, **(self.options or {}))
        self.release_ = self.plan_.run(progress=False)
        return self

    def sample(self, n: int | None = None, where: Mapping[str, Any] | None = None) -> Any:
        """Return the released rows, or draw new rows from the released model. This spends no budget.

        The table is of the same kind as the fitted one. With neither `n` nor `where`, the released
        rows are returned, or None if the release has none. The seed of new rows is fixed: the same arguments
        give the same rows. The first draw takes as long as the run did (`dpsynth_core.sample`).

        Args:
            n: Number of rows to draw; None for as many as were released.
            where: The group to draw from, as values by column; everybody by default.

        Raises:
            InputError: Nothing was fitted yet, rows cannot be drawn from the release, or the number or the
                group is invalid.
            CapacityError: The group is too rare for this number of rows, or the model does not fit into this machine.
        """
        if not hasattr(self, "release_"):
            raise InputError("sample", "nothing was fitted yet", "call fit first")
        if n is None and where is None:
            return self.release_.rows
        return sample(self.release_, self.release_.made.rows if n is None else n, where).rows

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's signature
        """Return the parameters of the constructor by name. `deep` changes nothing: no parameter is an estimator."""
        return {name: getattr(self, name) for name in ("columns", "epsilon", "tables", "population", "options")}

    def set_params(self, **changed: Any) -> Self:
        """Set parameters of the constructor by name, as scikit-learn expects, and return this synthesizer.

        The values are not checked before `fit`.

        Raises:
            InputError: A name is unknown (those before it are set), or the synthesizer was fitted already.
        """
        if hasattr(self, "release_"):
            raise InputError("set_params", "this was fitted already", "make another Synthesizer")
        for name, value in changed.items():
            if name not in self.get_params():
                raise InputError(name, "there is no such parameter", f"use {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"Synthesizer(epsilon={self.epsilon!r}, {'fitted' if hasattr(self, 'release_') else 'not fitted'})"
