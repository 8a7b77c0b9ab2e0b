"""The session's file: one row per decision, nothing twice, nothing lost, undo as a row."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from bvdt.labeling import Shown, Store
from bvdt.labeling.store import checked_name


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    yield store
    store.close()


def label(store, request, document, name, who="ann"):
    return store.decide(
        request, "label", [Shown(document, "its text", "auto", "money", 0.4)], who=who, label=name
    )


def test_a_decision_is_a_row_with_what_was_shown(store):
    label(store, "r1", "d1", "sport")
    (decision,) = store.current()
    assert (decision.document, decision.kind, decision.label, decision.who) == ("d1", "label", "sport", "ann")
    assert (decision.suggested, decision.confidence) == ("money", 0.4)
    assert decision.at.endswith("+00:00")
    assert store.texts() == {"d1": "its text"}
    assert store.classes() == ["sport"]


def test_the_newest_decision_holds_and_the_old_row_stays(store):
    label(store, "r1", "d1", "sport")
    label(store, "r2", "d1", "money")
    assert store.labels() == {"d1": "money"}
    assert store.n_rows() == 2
    store.decide("r3", "unsure", [Shown("d1")], who="ann")
    assert store.labels() == {}
    assert [d.kind for d in store.current()] == ["unsure"]


def test_a_request_sent_again_is_not_written_again(store):
    assert label(store, "r1", "d1", "sport") == label(store, "r1", "d1", "sport")
    assert store.n_rows() == 1
    assert store.undo("u1", "ann") == store.undo("u1", "ann") == ["d1"]
    assert store.n_rows() == 2


def test_undo_is_a_row_and_goes_back_one_by_one(store):
    label(store, "r1", "d1", "sport")
    label(store, "r2", "d2", "sport")
    label(store, "r3", "d2", "money")
    assert store.undo("u1", "ann") == ["d2"]
    assert store.labels() == {"d1": "sport", "d2": "sport"}
    assert store.undo("u2", "ann") == ["d2"]
    assert store.labels() == {"d1": "sport"}
    assert store.undo("u3", "ann") == ["d1"]
    assert store.undo("u4", "ann") == []
    assert store.n_rows() == 6


def test_undo_takes_many_back_at_once_and_only_ones_own(store):
    store.decide("r1", "label", [Shown(f"d{k}") for k in range(5)], who="ann", label="sport")
    label(store, "r2", "d9", "money", who="bob")
    assert len(store.undo("u1", "ann")) == 5
    assert store.labels() == {"d9": "money"}


def test_all_of_a_request_or_nothing(store):
    with pytest.raises(sqlite3.IntegrityError):
        store.decide("r1", "label", [Shown("d1"), Shown("d1")], who="ann", label="sport")
    assert store.n_rows() == 0
    assert store.current() == []


def test_a_session_goes_on(tmp_path):
    first = Store(tmp_path / "s.sqlite")
    first.add_classes(["b", "a"])
    label(first, "r1", "d1", "a")
    first.close()
    again = Store(tmp_path / "s.sqlite", create=False)
    assert again.classes() == ["b", "a"]
    assert again.labels() == {"d1": "a"}
    again.close()


def test_every_commit_waits_for_the_disk(store):
    assert store._db.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert store._db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_many_threads_write_every_decision_once(store):
    def work(who):
        for k in range(20):
            label(store, f"{who}{k}", f"d{k}", "sport", who=f"p{who}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.n_rows() == 120
    assert len(store.labels()) == 20


def test_other_files_are_refused_and_stay_as_they_are(tmp_path):
    text = tmp_path / "notes.sqlite"
    text.write_text("not a database, but long enough to be taken for one by a careless reader" * 20)
    before = text.read_bytes()
    with pytest.raises(ValueError, match=r"notes\.sqlite needs to be a session of bvdt label"):
        Store(text)
    assert text.read_bytes() == before
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(ValueError, match="it is another file"):
        Store(other)
    with pytest.raises(ValueError, match="there is no such file"):
        Store(tmp_path / "missing.sqlite", create=False)


def test_one_server_per_session(tmp_path):
    pytest.importorskip("fcntl")
    first, second = Store(tmp_path / "s.sqlite"), Store(tmp_path / "s.sqlite")
    first.claim()
    with pytest.raises(ValueError, match="open in another bvdt label"):
        second.claim()
    first.close()
    second.close()
    third = Store(tmp_path / "s.sqlite")
    third.claim()
    third.close()


@pytest.mark.parametrize("bad", ["", "   ", "x" * 201, "a\x00b", "a\u202eb"])
def test_names_are_checked(bad):
    with pytest.raises(ValueError, match="a class needs a name of 1 to 200 printable characters"):
        checked_name(bad, "a class")


def test_names_keep_their_letters():
    assert checked_name("می\u200cخواهم", "a class") == "می\u200cخواهم"
    assert checked_name("  <b>Ärger</b>\n  & co ", "a class") == "<b>Ärger</b> & co"
