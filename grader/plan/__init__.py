"""The contract: plans and messages as data of fixed shape. All that trusted and confined processes share."""
