"""Plans: requested from confined planners, checked as if they were forged, and compiled."""
