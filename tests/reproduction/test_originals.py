"""Parsers of the original formats on files written by hand, and archives that are not what they should be."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile

import pytest

from helpers.original_files import tarred, zipped
from reproduction.data.archives import read_members
from reproduction.data.originals import parse_bbc, parse_imdb, parse_newsgroups

BBC = {
    "s.mtx": b"%%MatrixMarket matrix coordinate real general\n% a comment\n3 2 4\n"
    b"1 1 1.0\n1 2 12.0\n3 1 2.0\n2 2 1.0\n",
    "s.terms": b"claxton\nhunt\nmajor\n",
    "s.docs": b"athletics.001\ncricket.001\n",
    "s.classes": b"%%Clustering hard\n%Name NaturalClasses\n%Clusters 2 athletics,cricket\n%Objects\n"
    b"1 1\n0 0\n",
}
NEWS = {
    "train.data": b"1 1 4\n1 2 2\n3 5 1\n",
    "train.label": b"1\n2\n2\n",
    "train.map": b"sci.space 2\nalt.atheism 1\n",
}
IMDB = {
    "imdb.vocab": b"the\nand\na\nof\n",
    "train/labeledBow.feat": b"9 0:9 3:1\n7 1:2\n1 0:1\n",
    "test/labeledBow.feat": b"10 2:5\n4\n",
}


def test_bbc():
    X, labels, names, extra = parse_bbc(BBC, "s")
    assert X.toarray().tolist() == [[1, 0, 2], [12, 1, 0]]  # documents × terms
    assert labels.tolist() == [0, 1]
    assert names == ["athletics", "cricket"]
    assert extra == {}


def test_newsgroups():
    X, labels, names, extra = parse_newsgroups(NEWS, 6)
    assert X.toarray().tolist() == [[4, 2, 0, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 1, 0]]
    assert labels.tolist() == [0, 1, 1]
    assert names == ["alt.atheism", "sci.space"]  # by number, not by line
    assert extra == {}


def test_imdb():
    X, labels, names, extra = parse_imdb(IMDB)
    assert X.toarray().tolist() == [[9, 0, 0, 1], [0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 5, 0], [0, 0, 0, 0]]
    assert labels.tolist() == [1, 1, 0, 1, 0]
    assert names == ["neg", "pos"]
    assert extra["rating"].tolist() == [9, 7, 1, 10, 4]
    assert extra["is_test"].tolist() == [False, False, False, True, True]


MTX = BBC["s.mtx"]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("s.mtx", b"<!DOCTYPE html>", "s.mtx needs the header"),
        ("s.mtx", MTX.replace(b"coordinate", b"array"), "s.mtx needs the header"),
        ("s.mtx", MTX.replace(b"real general", b"real symmetric"), "s.mtx needs the header"),
        ("s.mtx", MTX[:-8], "needs the 4 entries its header declares; it has 3"),
        ("s.mtx", MTX.replace(b"3 1 2.0", b"4 1 2.0"), "each row from 1 to 3; entry 3 is 4"),
        ("s.mtx", MTX.replace(b"3 1 2.0", b"3 0 2.0"), "each column from 1 to 2; entry 3 is 0"),
        ("s.mtx", MTX.replace(b"12.0", b"1.5"), "whole numbers; number 3 of row 2 is 1.5"),
        ("s.mtx", MTX.replace(b"12.0", b"nan"), "whole numbers; number 3 of row 2 is nan"),
        ("s.mtx", MTX.replace(b"12.0", b"-2"), "counts >= 1; it has -2"),
        ("s.mtx", MTX.replace(b"3 1 2.0", b"1 1 2.0"), "names an entry twice: 4 entries in 3 places"),
        ("s.mtx", MTX.replace(b"3 1 2.0", b"3 one 2.0"), "s.mtx needs 3 numbers per line"),
        ("s.mtx", MTX.replace(b"3 1 2.0", b"3 1"), "s.mtx needs 3 numbers per line"),
        ("s.mtx", MTX[:46], "line of sizes is empty"),
        ("s.terms", b"claxton\n", "s.terms needs 3 lines, as many as s.mtx says; it has 1"),
        ("s.docs", b"", "s.docs needs 2 lines, as many as s.mtx says; it has 0"),
        ("s.classes", b"0 0\n1 1\n", "one line '%Clusters NUMBER NAME,NAME,…'; it has 0"),
        ("s.classes", b"%Clusters 3 a,b\n0 0\n1 1\n", "declares 3 classes and names 2"),
        ("s.classes", b"%Clusters 2 a,b\n0 0\n0 1\n", "each document from 0 to 1 once; it has 2"),
        ("s.classes", b"%Clusters 2 a,b\n0 0\n1 2\n", "each class from 0 to 1; entry 2 is 2"),
    ],
)
def test_wrong_bbc_files(file, content, message):
    with pytest.raises(ValueError, match=message):
        parse_bbc(BBC | {file: content}, "s")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("train.data", b"0 1 4\n", "each document from 1 to 3; entry 1 is 0"),
        ("train.data", b"1 7 4\n", "each term from 1 to 6; entry 1 is 7"),
        ("train.data", b"1 1\n", "train.data needs 3 numbers per line; it has 2"),
        ("train.data", b"", "train.data is empty"),
        ("train.label", b"1\n3\n1\n", "each class from 1 to 2; entry 2 is 3"),
        ("train.map", b"a 1\nb 1\n", "train.map needs lines 'NAME NUMBER' with the numbers 1 to 2"),
        ("train.map", b"a 1\nb\n", "train.map needs lines"),
    ],
)
def test_wrong_newsgroups_files(file, content, message):
    with pytest.raises(ValueError, match=message):
        parse_newsgroups(NEWS | {file: content}, 6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"9 0:9\n9 0 9\n", "line 2 is b'9 0 9'"),
        (b"9 0:9:1\n", "line 1 is b'9 0:9:1'"),
        (b"9 0:9\n\n8 0:1\n", "line 2 is b''"),
        (b"9 0:x\n", "line 1 is b'9 0:x'"),
        (b"9 0: 9\n", "line 1 is b'9 0: 9'"),
        (b"9 4:1\n", "each term from 0 to 3; entry 1 is 4"),
        (b"11 0:1\n", "each rating from 1 to 10; entry 1 is 11"),
        (b"9 0:0\n", "counts >= 1; it has 0"),
        (b"9 0:1 0:2\n", "names an entry twice"),
        (b"", "test/labeledBow.feat is empty"),
    ],
)
def test_wrong_imdb_files(content, message):
    with pytest.raises(ValueError, match=message):
        parse_imdb(IMDB | {"test/labeledBow.feat": content})


# -- archives ------------------------------------------------------------------------------------------------

FILES = {"top/train/a.feat": b"train", "top/test/a.feat": b"test", "top/._b": b"junk", "top/b": b"bee"}


@pytest.fixture
def put(tmp_path):
    def write(content):
        path = tmp_path / f"archive{len(list(tmp_path.iterdir()))}"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_members_are_found_by_the_end_of_their_path(put, pack):
    path = put(pack(FILES))
    assert read_members(path, ["test/a.feat", "b"]) == {"test/a.feat": b"test", "b": b"bee"}
    assert [p.name for p in path.parent.iterdir()] == ["archive0"]  # nothing is unpacked
    with pytest.raises(ValueError, match="has no member 'c'"):
        read_members(path, ["b", "c"])
    with pytest.raises(ValueError, match=r"two members named 'a.feat'"):
        read_members(path, ["a.feat"])


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", ["../b", "top/../../b", "/etc/b", "C:\\b", "c:/b", "..\\b", "\\b", "top/.."])
def test_members_that_climb_are_refused(put, pack, name):
    """Wherever they stand, even when nobody asked for them."""
    path = put(pack({"b": b"fine"} | {name: b"bad"}))
    with pytest.raises(ValueError, match="holds a member that climbs out of its folder"):
        read_members(path, ["b"])


def test_names_with_dots_do_not_climb(put):
    assert read_members(put(tarred({"./top/..b": b"fine", "a..": b""})), ["..b"]) == {"..b": b"fine"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(put, kind):
    info = tarfile.TarInfo("top/c")
    info.type, info.linkname = kind, "/etc/passwd"
    with pytest.raises(ValueError, match="link or device, 'top/c'; only plain files"):
        read_members(put(tarred({"b": b"fine"}, [info])), ["b"])


def test_folders_are_passed_over(put):
    info = tarfile.TarInfo("top/b")
    info.type = tarfile.DIRTYPE
    assert read_members(put(tarred({"b": b"fine"}, [info])), ["b"]) == {"b": b"fine"}
    assert read_members(put(zipped({"top/b/": b"", "b": b"fine"})), ["b"]) == {"b": b"fine"}


def test_links_in_a_zip_are_refused(put):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("b")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(ValueError, match="holds a link, 'b'"):
        read_members(put(buffer.getvalue()), ["b"])


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_an_archive_that_grows_too_large_is_refused(put, pack):
    """A million zeros in a few kilobytes; the member asked for is another."""
    content = pack({"b": b"fine", "zeros": bytes(10**6)})
    assert len(content) < 10_000
    with pytest.raises(ValueError, match="unpacks to more than 0 MiB"):
        read_members(put(content), ["b"], limit=500_000)
    assert read_members(put(content), ["b"], limit=1_100_000) == {"b": b"fine"}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_truncated_and_damaged_archives_are_refused(put, pack):
    content = pack({"b": bytes(range(256)) * 50, "c": b"more"})
    for cut in (len(content) // 3, len(content) - 5):
        with pytest.raises(ValueError, match="damaged or truncated"):
            read_members(put(content[:cut]), ["b"])
    damaged = bytearray(content)
    damaged[len(content) // 3] ^= 0xFF
    with pytest.raises(ValueError, match="damaged or truncated"):
        read_members(put(bytes(damaged)), ["b"])


def test_other_files_are_not_archives(put):
    with pytest.raises(ValueError, match=r"neither a zip nor a tar.gz archive; .* b'<!DOCTYPE html>'"):
        read_members(put(b"<!DOCTYPE html>"), ["b"])
    with pytest.raises(ValueError, match="neither a zip nor"):
        read_members(put(b""), ["b"])
