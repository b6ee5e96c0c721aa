"""Columns as features of a target: which stand for the rest (`ranking`), and the search for a blanket (`selection`)."""
