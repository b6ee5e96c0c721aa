"""Import this before NumPy: it sets every numerical library to one thread, here and in worker processes."""

import os
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
if "numba" not in sys.modules:  # it reads its variables again whenever it compiles, and refuses a change
    os.environ["NUMBA_NUM_THREADS"] = "1"
