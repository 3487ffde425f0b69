"""What the extension adds to lists in tests of the core (`tests.additions.listed`)."""

LOOSE = ("noise_as_charged",)
"""Operations whose charge is a bound that no pair of tables comes near."""
OF_DELTA_ALONE = ("noise_as_charged",)
"""Operations that cost no rho."""
