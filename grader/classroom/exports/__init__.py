"""Results as platforms and people read them: sheets to fill, archives, JSON, XML."""
