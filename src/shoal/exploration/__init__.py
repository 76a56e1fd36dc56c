"""Many releases of one table or of several: exploration of settings, comparison of methods."""
