"""Latents to nats: base distributions, models of how latents depend, over the closed forms that they share."""
