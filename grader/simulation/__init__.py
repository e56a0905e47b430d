"""Parts that the simulators share: driver, memory, findings, numbers. `ptx` is the simulator of PTX."""
