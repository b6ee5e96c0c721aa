"""Units: one target column given its context columns, and how one is fitted."""
