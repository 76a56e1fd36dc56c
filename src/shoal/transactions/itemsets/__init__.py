"""Frequent itemsets: mining, support in disassociated data, and what is lost."""
