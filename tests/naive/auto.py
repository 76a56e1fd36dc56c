"""Which method `auto` chooses, as its page says."""


def choice(n, d, k, limited, effort="quick", weighted=False):
    if n < 2 * k:
        return "mdav"
    if limited:
        return "anneal"
    if d <= 1:
        return "univariate"
    if n <= 300 and k <= 4 and effort == "thorough" and not weighted:
        return "exact"
    return "anneal" if n <= 50_000 else "blocks"
