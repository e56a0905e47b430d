"""Right answers and the comparison with them: oracle, inputs, tolerances."""
