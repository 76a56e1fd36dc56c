"""Charts and reports, rendered from facts; only `counting` and `holder` read rows."""
