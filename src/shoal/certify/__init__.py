"""Certificates: what a release claims, and the check of it from its bytes."""
