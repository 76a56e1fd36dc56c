"""Whether a release meets its policy, counted from the released values alone."""
