"""Speed: paired measurement against a baseline on a GPU, by the judge's clock."""
