"""Columns of any kind: `column` says what a kind is, one file each kind, and questions about any mix of them."""
