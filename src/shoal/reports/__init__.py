"""Charts and reports, built from facts and never from rows."""
