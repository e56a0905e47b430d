"""The command line: one file a verb. No other room imports it."""
