"""The commands for students before handing in: check and inspect."""
