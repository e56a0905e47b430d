"""The nouns: what an assignment, a course, a submission and a result are. It judges nothing."""
