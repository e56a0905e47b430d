"""Rooms around a class: files in from platforms, attempts in SQLite, results out to platforms. None of them judges."""
