"""Inner loops in a form that Python can call."""

from shoal.kernels import columns as algebra
from shoal.kernels import random_streams
from shoal.kernels.loops import callable_inner_loop


@callable_inner_loop
def add(columns, hulls, hull, row):
    algebra.add(columns, hulls, hull, row)


@callable_inner_loop
def clear(columns, hulls, hull):
    algebra.clear(columns, hulls, hull)


@callable_inner_loop
def join_loss(columns, hulls, hull, row, limit):
    return algebra.join_loss(columns, hulls, hull, row, limit)


@callable_inner_loop
def loss(columns, hulls, hull):
    return algebra.loss(columns, hulls, hull)


@callable_inner_loop
def pair_loss(columns, one, two, limit):
    return algebra.pair_loss(columns, one, two, limit)


@callable_inner_loop
def uniform(state):
    return random_streams.uniform(state)
