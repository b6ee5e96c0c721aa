"""The questions that can be asked of columns, one module each: they read, plan, fit and answer."""
