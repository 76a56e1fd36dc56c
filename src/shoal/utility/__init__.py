"""What a release is still worth."""
