"""Which method `auto` chooses, as its page says."""


def choice(n, d, k, effort, limited):
    if n < 2 * k:
        return "mdav"
    if limited:
        return "anneal"
    if d <= 1:
        return "univariate"
    if effort == "thorough" and n <= 300 and k <= 4:
        return "exact"
    return "anneal" if n <= 50_000 else "blocks"
