"""Files and frames into tables, and releases into folders."""
