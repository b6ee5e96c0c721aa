"""The entry points ("doors"), one module for each question about columns; what they share is in `answers`."""
