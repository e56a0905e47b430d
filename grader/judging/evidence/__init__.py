"""Evidence: samples of large sizes, witnesses of open orders, counts of structure, the compiled form."""
