"""The nouns of shoal: policy, table, partition, release, verdict, finding. No algorithms."""
