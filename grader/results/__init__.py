"""Results: verdicts, facts, points and marks as data. Nothing here judges."""
