"""From a question to nats, once for every door: settings, what is determined, fitting, columns of any kind."""
