"""Other estimators of the same quantities behind the same call: arrays in, nats out."""
