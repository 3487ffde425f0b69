"""A Dask cluster that counts files in place of this process."""

from dpsynth_core.foundation.extension import Engine, Entry, Extension

EXTENSION = Extension(
    summary="Files counted by the workers of a Dask cluster.",
    engines=(
        Engine(
            name="dask",
            title="A Dask cluster",
            help="dask, the workers of a Dask cluster",
            entries=(
                Entry(
                    "scheduler",
                    "ADDRESS",
                    "of a Dask cluster that runs, such as tls://host:8786 (default: processes on this machine for as long as it takes)",
                ),
                Entry("workers", "N", "processes of a Dask cluster on this machine (default: as many as processors)", whole=True),
            ),
            source="dpsynth_core.extensions.cluster.dask_cluster:source",
            check="dpsynth_core.extensions.cluster.dask_cluster:check",
            settings="dpsynth_core.extensions.cluster.view:settings",
        ),
    ),
)
