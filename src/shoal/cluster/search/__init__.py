"""Searches on numeric tables that several methods share."""
