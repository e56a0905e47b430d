"""pytest around the judge: one item for each check of a submission."""
