"""Units: one target column given its context columns. How one is fitted, kept, planned and run."""
