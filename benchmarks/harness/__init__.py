"""What benchmarks share and the library does not need: which code a table is of, other CPUs, families of datasets."""
