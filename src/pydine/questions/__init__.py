"""The questions that can be asked of columns, one module each: the doors, all on the floor of `answers`."""
