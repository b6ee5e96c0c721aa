"""Columns of any kind: `column` has the contract of a kind, each kind has a file, and `question` mixes them."""
