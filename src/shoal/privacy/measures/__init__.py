"""Measures of disclosure risk, as findings."""
