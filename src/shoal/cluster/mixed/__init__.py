"""Searches on tables with columns of any kind, shared by `cover`, `gower` and `grow`."""
