"""Random records of few items, with many ties, repeated records and items of all of them."""


def random_records(rng, most=40, items=9, least=0):
    """Return sorted lists of numbers below some number of items, and that number."""
    n = rng.randint(least, most)
    q = rng.randint(1, items)
    spread = 1 + q * rng.random()
    longest = rng.choice([2, 4, 7])
    records = []
    for _ in range(n):
        if records and rng.random() < 0.2:
            records.append(rng.choice(records))
            continue
        drawn = {min(q - 1, int(rng.expovariate(1 / spread))) for _ in range(rng.randint(1, longest))}
        records.append(sorted(drawn))
    if rng.random() < 0.2:
        records = [sorted({0, *record}) for record in records]
    return records, q


def random_limits(rng, largest=12):
    """Return k, m and delta, small ones, so that all that is rare happens often."""
    k = rng.randint(1, 4)
    return k, rng.randint(1, 4), 2 * k - 1 + rng.randint(0, largest)
