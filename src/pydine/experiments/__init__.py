"""Datasets with known truth: the paper's own, and families where Z matters."""
