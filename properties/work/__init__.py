"""Work in units: done in this process, by several processes or on a Dask cluster, with results in the order of the units."""
