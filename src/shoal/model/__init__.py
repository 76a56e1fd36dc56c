"""The data classes of shoal: policy, table, partition, release, verdict, finding. No algorithms."""
