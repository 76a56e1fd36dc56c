"""Ticks, sentences and a budget of seconds: sent by workers, received by listeners."""

import math
import time

from shoal.model.progress import announce, budget, cut_short, left, listening, part, spent, step, tick


def collector():
    ticks = []
    return ticks, lambda *given: ticks.append(given)


def test_ticks_are_sent_to_the_listener_with_their_step():
    ticks, listener = collector()
    with listening(listener):
        step("cluster")
        tick(3, 7)
    tick(4, 7)
    assert ticks == [("cluster", 0, 1), ("cluster", 3, 7)]


def test_ticks_of_a_part_count_as_a_share_of_the_whole():
    ticks, listener = collector()
    with listening(listener), part(1, 4):
        tick(1, 2)
    assert ticks[0][1] / ticks[0][2] == 1.5 / 4


def test_sentences_are_sent_to_the_recipient():
    ticks, listener = collector()
    messages, recipient = collector()
    announce("nobody hears this")
    with listening(listener, recipient):
        announce("about 6 s")
        tick(1, 2)
    announce("nor this")
    assert messages == [("about 6 s",)]
    assert len(ticks) == 1


def test_a_listener_for_ticks_alone_does_not_intercept_sentences():
    messages, recipient = collector()
    with listening(lambda *_: None, recipient), part(0, 2), listening(lambda *_: None):
        announce("about 6 s")
    with listening(lambda *_: None):
        announce("nobody hears this")
    assert messages == [("about 6 s",)]


def test_an_inner_recipient_replaces_the_outer_one():
    outer, first = collector()
    inner, second = collector()
    with listening(lambda *_: None, first):
        with listening(lambda *_: None, second):
            announce("in")
        announce("out")
    assert (outer, inner) == ([("out",)], [("in",)])


def test_a_budget_ends_with_its_seconds_and_only_searches_that_check_it_end_early():
    with budget(60):
        assert 0 <= spent() < 1
        assert not cut_short()
    with budget(1e-6):
        time.sleep(1e-3)
        assert not cut_short()
        assert spent() >= 1
        assert cut_short()
    with budget(None):
        assert spent() == 0
    assert not cut_short()


def test_the_end_of_a_budget_can_be_seen_ahead():
    assert left() == math.inf
    assert spent(1e9) == 0
    with budget(60):
        assert 59 < left() <= 60
        assert spent(59.9) < 1
        assert not cut_short()
        assert spent(60) >= 1
        assert cut_short()
    with budget(1e-6):
        time.sleep(1e-3)
        assert left() == 0
