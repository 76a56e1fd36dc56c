"""Which method `auto` chooses, as its page says."""


def choice(n, d, k, limited):
    if n < 2 * k:
        return "mdav"
    if limited:
        return "anneal"
    if d <= 1:
        return "univariate"
    return "anneal" if n <= 50_000 else "blocks"
