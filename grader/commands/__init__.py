"""The command line: `cli.py` registers the verbs. No other room imports it."""
