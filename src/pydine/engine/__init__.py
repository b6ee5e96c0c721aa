"""The engine: fits batches of units (one target column given its context columns) and maps them to latents."""
