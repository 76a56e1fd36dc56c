"""The command line: each command is a few lines that call the line and show facts."""
