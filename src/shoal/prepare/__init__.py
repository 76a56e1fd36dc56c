"""Before the method: judge the columns, complete the policy, turn cells into numbers and back."""
