"""Downloads of platforms, put into folders that can be graded. Their bytes are hostile."""
