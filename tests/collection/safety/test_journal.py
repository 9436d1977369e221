import pytest

from manyview.collection.safety.journal import DEATHS, Journal


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


def test_the_name_is_on_disk_before_the_file_is_opened(path):
    journal = Journal(path)
    journal.opening("a\nb\udcff.jpg")
    assert Journal(path).deaths == {("a\nb\udcff.jpg", ""): 1}  # what a next start would find
    journal.done("a\nb\udcff.jpg")
    assert Journal(path).deaths == {}


def test_a_file_is_given_up_after_three_deaths_in_a_row(path):
    for count in range(DEATHS):
        journal = Journal(path)
        assert journal.deaths.get(("bomb.jpg", ""), 0) == count
        assert not journal.given_up("bomb.jpg")
        journal.opening("bomb.jpg")  # and the program dies
    journal = Journal(path)
    assert journal.given_up("bomb.jpg")
    journal.opening("other.jpg")
    journal.done("other.jpg")
    journal.progress()
    journal.finish()
    assert Journal(path).given_up("bomb.jpg")  # progress with others does not make it innocent
    assert not Journal(path).given_up("bomb.jpg", "another size and time")


def test_deaths_with_progress_in_between_prove_nothing(path):
    for _ in range(2 * DEATHS):
        journal = Journal(path)
        journal.opening("innocent.jpg")
        journal.progress()
        journal.done("innocent.jpg")
        journal.progress()
        journal.opening("innocent.jpg")
    assert not Journal(path).given_up("innocent.jpg")


def test_several_at_once_and_a_torn_line(path):
    journal = Journal(path)
    for name in ("a", "b", "c"):
        journal.opening(name)
    journal.done("b")
    with path.open("ab") as file:
        file.write(b'["open", "d')
    assert Journal(path).deaths == {("a", ""): 1, ("c", ""): 1}
    journal = Journal(path)
    journal.finish()  # nothing was read this time, so the suspects stay
    assert Journal(path).deaths == {("a", ""): 1, ("c", ""): 1}
    journal.start()
    journal.finish()
    assert path.read_bytes().count(b"\n") == 0
