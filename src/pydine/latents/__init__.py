"""Columns to latents: normal scores, functions of z and their projection, the two whole maps (`flows`, `paper`)."""
