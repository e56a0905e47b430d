"""Isolation of hostile processes, and the fork servers that start and end them."""
