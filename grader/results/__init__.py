"""The nouns: assignment, course, submission, result. Nothing here judges."""
