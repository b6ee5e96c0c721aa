"""Columns of any kind to nats: `estimate` answers, by a table (`tables`) or by `densities` and their neighbours."""
