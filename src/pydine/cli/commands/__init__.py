"""The commands, one file each: a function whose parameters are the options, and what it prints."""
