# Nothing but this line.
