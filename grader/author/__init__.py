"""What an author of assignments runs: new ones, whether they are fit, what is handed out."""
