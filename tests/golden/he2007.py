#!/usr/bin/env python3
"""Golden values of he2007's h, B_rand and T with the G80's parameters, for a scatter.

Written from the paper (§3.3, §3.4, Table 1, §3.5) and its errata, and sharing nothing with the
program: (1 - 1/k)^n is a power of a decimal number of 80 digits, where the program has ln_1p and
exp_m1, and where k and n are small whole numbers it is compared with the printed sum of Stirling
numbers in exact rational arithmetic. All else is a handful of multiplications, also in decimals.

    python3 tests/golden/he2007.py > tests/golden/he2007.csv
"""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import ceil, comb, factorial

getcontext().prec = 80

B_SEQ = Decimal("63.9e9")
CACHE, BLOCK, TRANSFER, WARP, INDEX = 392 * 1024, 256, 48, 32, 4
DELTA = Decimal(10) / (16 * Decimal("1.35e9"))


def stirling(n, j):
    row = [1] + [0] * j
    for _ in range(n):
        row = [0] + [i * row[i] + row[i - 1] for i in range(1, j + 1)]
    return row[j]


def printed_sum(k, n):
    total = sum(comb(k, j) * stirling(n, j) * factorial(j) * j for j in range(1, n + 1))
    return Fraction(total, k**n)


def distinct(k, n):
    closed = k - k * (1 - 1 / k) ** n
    if k == int(k) and k <= 64 and n == int(n) and n <= 64:
        exact = printed_sum(int(k), int(n))
        exact = Decimal(exact.numerator) / Decimal(exact.denominator)
        assert abs(closed - exact) < Decimal("1e-60"), (k, n)
    return closed


def case_1(n, k):
    lines = Decimal(CACHE // BLOCK)
    e = distinct(k, n)
    misses = e / n if e <= lines else (e + (1 - lines / e) * (n - e)) / n
    return 1 - misses


def case_2(p, z):
    d = distinct(p, Decimal(WARP))
    blocks = ceil(WARP * z / (d * BLOCK))
    return 1 - d * blocks / WARP


def golden(n, z, p, chunks):
    tuples, bytes_ = Decimal(n), Decimal(n * z)
    inter = case_1(tuples / chunks, bytes_ / chunks / BLOCK)
    h = inter
    if p is not None:
        intra = case_2(Decimal(max(p // chunks, 1)), z)
        h = intra + (1 - intra) * inter
    miss = ceil(Fraction(z, BLOCK)) * BLOCK / B_SEQ
    hit = ceil(Fraction(z, TRANSFER)) * DELTA
    b_rand = z / ((1 - h) * miss + h * hit)
    t = (bytes_ + n * INDEX) * chunks / B_SEQ + bytes_ / b_rand
    return h, b_rand, t


CASES = [
    (1000, 8, None, 1),
    (2**15, 8, 8, 1),
    (2**20, 4, None, 1),
    (2**24, 8, None, 1),
    (2**24, 8, None, 4),
    (2**24, 8, None, 16),
    (2**24, 8, None, 64),
    (2**24, 8, 2, 1),
    (2**24, 8, 32, 1),
    (2**24, 8, 32, 4),
    (2**24, 16, 1024, 16),
    (2**28, 16, None, 512),
]

if __name__ == "__main__":
    print("tuples,tuple,partitions,passes,hit_rate,random_bytes_per_s,seconds")
    for n, z, p, chunks in CASES:
        h, b_rand, t = golden(n, z, p, chunks)
        print(f"{n},{z},{'' if p is None else p},{chunks},{h:.17g},{b_rand:.17g},{t:.17g}")
