"""Set-valued data: disassociation, re-association, frequent itemsets and tree edit distance."""
