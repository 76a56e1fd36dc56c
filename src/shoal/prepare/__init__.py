"""Before the method: profile the columns, complete the policy, turn cells into numbers and back."""
