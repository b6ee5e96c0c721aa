"""The rungs of the ladder, one file each: `rung` says what one is, `registry` which there are."""
