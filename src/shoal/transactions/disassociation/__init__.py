"""Disassociation: records are clustered, and the items of each cluster are split into k^m-anonymous chunks."""
