"""Certificates: what a release claims, and the verification of these claims from its bytes."""
