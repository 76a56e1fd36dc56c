"""The command line: each command is a few lines that call the pipeline and print facts."""
