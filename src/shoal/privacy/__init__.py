"""The judge: what a release is worth, from its values alone."""
