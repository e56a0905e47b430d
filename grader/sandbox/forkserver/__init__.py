"""Fork servers: they fork a worker for each request, watch it, and end it with all that it started."""
