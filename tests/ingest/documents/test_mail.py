"""Mails, as programs save them."""

from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from manyview import Collection
from manyview.ingest.documents import DocumentReader

from .steps import document


@pytest.fixture(scope="module")
def reader():
    with DocumentReader() as one:
        yield one


def mail(subject="", text=None, page=None, attached=None, charset="utf-8"):
    message = EmailMessage()
    message["From"] = "Ann <ann@example.org>"
    message["Subject"] = subject
    if text is not None:
        message.set_content(text, charset=charset)
    if page is not None:
        add = message.add_alternative if text is not None else message.set_content
        add(page, subtype="html")
    if attached is not None:
        message.add_attachment(attached, filename="notes.txt")
    return message


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252"])
def test_subject_and_text(reader, charset):
    made = mail("Größe des Hafens", "Schöne Grüße\n", charset=charset)
    assert document(made.as_bytes(), "eml", reader).text == "Größe des Hafens Schöne Grüße"


def test_one_of_two_ways_and_no_attachments(reader):
    both = mail("s", "plain words", "<p>page <b>words</b></p>", "secret notes")
    assert document(both.as_bytes(), "eml", reader).text == "s plain words"
    page = mail("s", page="<p>page <b>words</b></p>", attached="secret notes")
    assert document(page.as_bytes(), "eml", reader).text == "s page words"


def test_a_mail_in_a_mail_counts(reader):
    outer = mail("outer", "see below")
    outer.add_attachment(mail("inner", "the old letter"))
    assert document(outer.as_bytes(), "eml", reader).text == "outer see below the old letter"


def test_keywords(reader):
    made = mail("s", "text")
    made["Keywords"] = "harbour, =?utf-8?q?B=C3=BChne?="
    made["Keywords"] = "1903"
    assert document(made.as_bytes(), "eml", reader).words.tags == ["harbour", "Bühne", "1903"]


@pytest.mark.parametrize(
    "content",
    [
        b"Subject: =?utf-8?b?!!!?=\n\ntext",
        b"Subject: =?nowhere?q?x?=\nContent-Type: text/plain; charset=nowhere\n\ntext",
        b"Subject: \xff\xfe\nContent-Transfer-Encoding: base64\n\ntext!",
        b"no header at all\n\ntext",
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\ntext",
        b"Subject: " + b"a " * 500_000 + b"\n\ntext",
        b"Content-Type: text/plain" + b';a="' * 20_000 + b"\n\ntext",
    ],
)
def test_odd_mails_are_read_as_far_as_they_go(reader, content):
    assert document(content, "eml", reader).text


def test_in_a_folder(tmp_path):
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "a.eml").write_bytes(mail("Harbour", "The walls.").as_bytes())
    with Collection.create(tmp_path / "t.manyview", folder) as collection:
        assert collection.items.texts() == ["Harbour The walls."]


def test_words_that_are_not_written_in_two_ways_all_count(reader):
    made = MIMEMultipart("mixed")
    made["Subject"] = "s"
    made.attach(MIMEText("<p>the letter</p>", "html"))
    made.attach(MIMEText("foot of the list", "plain"))
    assert document(made.as_bytes(), "eml", reader).text == "s the letter foot of the list"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Subject: Gr\u00f6\u00dfe =?utf-8?q?=C3=BCber?= alles\n\nx".encode(), "Gr\u00f6\u00dfe \u00fcber alles x"),
        ("Subject: s\nContent-Type: text/plain; charset=us-ascii\n\nGr\u00f6\u00dfe".encode(), "s Gr\u00f6\u00dfe"),
        (
            b"Subject: s\nContent-Type: text/plain; charset=gb2312\n\n" + "\u5586\u8fd9\u662f".encode("gbk"),
            "s \u5586\u8fd9\u662f",
        ),
        (
            b"Subject: s\nContent-Type: text/html\n\n<meta charset=koi8-r>"
            + "\u0433\u0430\u0432\u0430\u043d\u044c".encode("koi8-r"),
            "s \u0433\u0430\u0432\u0430\u043d\u044c",
        ),
        (b"Subject: s\nContent-Type: text/plain; charset=idna\n\nwords.." + b"a" * 80, "s words.." + "a" * 80),
        (b"\xef\xbb\xbfSubject: s\n\nwords", "s words"),
    ],
)
def test_letters_of_other_encodings(reader, content, text):
    assert document(content, "eml", reader).text == text


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("Fri, 14 Jun 2003 12:03:04 +0200", "2003-06-14T12:03:04+02:00"),
        ("14 Jun 2003 12:03:04 -0000", "2003-06-14T12:03:04"),
        ("yesterday", None),
        ("Fri, 99 Jun 2003", None),
    ],
)
def test_a_mail_is_as_old_as_it_says(tmp_path, line, taken):
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "a.eml").write_text(f"Subject: s\nDate: {line}\n\nwords")
    with Collection.create(tmp_path / "t.manyview", folder) as collection:
        (fields,) = collection.items.fields()
        assert (fields["taken"] if fields["taken_from"] == "file" else None) == taken
