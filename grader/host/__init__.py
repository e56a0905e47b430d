"""Python host code of a submission, run on shapes: what planners of languages in Python share."""
