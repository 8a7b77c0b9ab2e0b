"""Labels at once: against fits from scratch; what a desk publishes, asks and expects."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bvdt
from bvdt.labeling.guesses import Guesses, LiveWalk, brought_up_to_date
from bvdt.labeling.queue import Queue
from bvdt.labeling.search import Search
from helpers.labeling import make_desk, write_corpus


@pytest.fixture(scope="module")
def walk():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 4
    X = rng.normal(size=(300, 5)) + 3 * np.eye(5)[y]
    return bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=10, random_state=0), y


def test_following_labels_is_a_fit_from_scratch(walk):
    op, y = walk
    live, codes = LiveWalk(op, 0.9), np.full(300, -1)
    rng = np.random.default_rng(1)
    for point in rng.permutation(300)[:25]:
        codes[point] = y[point]
        guesses = live.follow(codes.copy(), 4)
    codes[np.flatnonzero(codes >= 0)[:3]] = -1  # taken back
    relabeled = np.flatnonzero(codes >= 0)[0]
    codes[relabeled] = (codes[relabeled] + 1) % 4
    guesses = live.follow(codes.copy(), 4)
    fitted = bvdt.LabelPropagation(alpha=0.9, tol=1e-6, blend=None).fit(y=codes, operator=op)
    rest = codes < 0
    assert_allclose(guesses.P[rest], fitted.label_distributions_[rest], atol=0.02)
    assert (guesses.best[rest] == fitted.transduction_[rest]).mean() > 0.99
    assert_array_equal(guesses.best[~rest], codes[~rest])


def test_no_labels_and_all_taken_back(walk):
    op, _ = walk
    live, none = LiveWalk(op, 0.9), np.full(300, -1)
    assert live.follow(none, 0).P.shape == (300, 0)
    one = none.copy()
    one[3] = 1
    assert_array_equal(live.follow(one, 2).best, 1)
    assert live.follow(none, 2).P.shape == (300, 0)
    assert (live.follow(none, 2).best == 0xFFFF).all()


def test_a_blend_is_kept_until_labels_change_and_then_moved(walk):
    op, y = walk
    live, codes = LiveWalk(op, 0.9), np.full(300, -1)
    codes[:8] = y[:8]
    then = live.follow(codes.copy(), 4)
    P = np.random.default_rng(0).dirichlet(np.ones(4), 300)
    P[:8] = np.eye(4)[y[:8]]
    blend = Guesses(then.codes, P)
    assert_allclose(brought_up_to_date(blend, then, then).P, P, atol=1e-12)
    codes[20] = 4  # a class that the blend does not know
    now = live.follow(codes.copy(), 5)
    moved = brought_up_to_date(blend, then, now)
    assert moved.best[20] == 4
    assert moved.P.shape == (300, 5)
    assert_allclose(moved.P.sum(axis=1), 1.0)


def test_pages_get_different_documents_and_their_own_again():
    queue, done = Queue(10), np.zeros(10, bool)
    queue.fill([3, 4, 5])
    assert queue.take("a", done) == 3
    assert queue.take("b", done) == 4
    assert queue.take("a", done) == 3
    done[3] = True
    assert queue.take("a", done) == 5
    assert queue.take("c", done) is None
    assert queue.taken("c").tolist() == [k in (4, 5) for k in range(10)]


def test_search_takes_beginnings_of_words_and_no_syntax():
    search = Search(["red apple pie", "a red car", 'say "or" NEAR it'], ["one", "two", "three"])
    assert search.find("RED app") == [0]
    assert set(search.find("red")) == {0, 1}
    assert search.find('"or" near') == [2]
    assert search.find("two") == [1]
    assert search.find(') OR * "') == [2]
    assert search.find("--") == []


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    truth = write_corpus(folder / "docs.csv")
    session = make_desk(folder / "docs.csv", folder / "s.sqlite")
    session.start()
    yield session, truth
    session.stop()
    session.store.close()


@pytest.mark.slow
def test_a_desk_follows_blends_expects_and_finds_slips(session):
    session, truth = session
    told = []
    end = session.listen(told.append)
    session.wait_idle()
    first = session.next_row("a", "auto")
    assert session.document(first)["guesses"] == []
    assert session.next_row("b", "auto") != first
    for k in range(30):
        row = session.next_row("a", "auto")
        session.decide(f"r{k}", "label", [row], who="ann", label=truth[session.corpus.ids[row]], how="auto")
        session.wait_idle(blend=False)
    session.wait_idle()
    end()
    state = session.state()
    assert state["labeled"] == state["followed"] == 30
    assert told == sorted(told)
    right = np.mean(
        [
            session.classes[k] == truth[i]
            for k, i in zip(session.now.guesses.best, session.corpus.ids, strict=True)
        ]
    )
    assert right > 0.9
    expected = session.now.expected
    assert expected.low <= right <= expected.high
    assert session.now.suspected_errors == ()
    row = session.next_row("a", "margin")
    wrong = next(name for name in session.classes if name != truth[session.corpus.ids[row]])
    sure = int(
        np.flatnonzero(session.codes < 0)[session.now.guesses.confidence()[session.codes < 0].argmax()]
    )
    wrong = next(name for name in session.classes if name != truth[session.corpus.ids[sure]])
    session.decide("slip", "label", [sure], who="ann", label=wrong, how="picked")
    session.wait_idle()
    assert sure in [error.document for error in session.now.suspected_errors]
    why = session.why(int(np.flatnonzero(session.codes < 0)[0]))
    assert 0 < len(why) <= 4
    assert all(one["text"] and 0 <= one["share"] <= 1 for one in why)


@pytest.mark.slow
def test_changes_are_only_what_changed(session):
    session, _ = session
    session.wait_idle()
    version, everything = session.changes(0)
    assert len(everything) % 8 == 0
    assert session.changes(version)[1] == b""
    row = session.next_row("z", "random")
    session.decide("one more", "label", [row], who="ann", label=session.classes[0], how="random")
    session.wait_idle(blend=False)
    changed = np.frombuffer(session.changes(version)[1], [("row", "<u4"), ("label", "<u2"), ("given", "<u2")])
    assert row in changed["row"]
    assert changed["given"][changed["row"] == row] == 1
    assert len(changed) < len(session.codes) / 2
