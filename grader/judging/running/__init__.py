"""Running plans: lanes, fork servers, simulators and executors as the judge sees them."""
