"""Pictures and reports, made of facts and never of rows."""
