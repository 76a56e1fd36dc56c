"""Attacks: how often an informed adversary is right about a person."""
