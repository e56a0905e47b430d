"""The commands for authors of assignments: new, verify, handouts, and the students' kit."""
