"""Plans: asked of confined planners, held against rules as if they were forged, compiled."""
