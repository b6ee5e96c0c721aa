"""Columns of any kind to nats: `estimate` combines contingency tables (`tables`) and conditional densities."""
