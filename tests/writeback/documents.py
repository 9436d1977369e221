"""Sidecars in the shapes that other programs write, with chance in everything that varies."""

from __future__ import annotations

import random
from collections.abc import Callable
from xml.sax.saxutils import escape, quoteattr

WORDS = (
    "beach",
    "Sommer 2019",
    "dog & cat",
    "naïve",
    "海",
    "пляж",
    "a<b",
    "family",
    "R2-D2",
    "Ünïcode",
    "it's",
    'say "hi"',
)
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def _bag(words: list[str], indent: str, end: str, kind: str = "Bag") -> str:
    inner = "".join(f"{end}{indent} <rdf:li>{escape(word)}</rdf:li>" for word in words)
    return f"{end}{indent}<rdf:{kind}>{inner}{end}{indent}</rdf:{kind}>{end}"


def _number(chance: random.Random) -> str:
    return f"{chance.uniform(-3, 3):+.2f}"


def lightroom(words: list[str], paths: list[str], chance: random.Random) -> str:
    """Many attributes on one description, history as structures, an xpacket wrapper."""
    settings = "".join(
        f'\n   crs:{name}="{_number(chance)}"' for name in ("Exposure2012", "Contrast2012", "Tint", "Vibrance")
    )
    subject = f"   <dc:subject>{_bag(words, '    ', chr(10))}   </dc:subject>\n" if words else ""
    tree = f"   <lr:hierarchicalSubject>{_bag(paths, '    ', chr(10))}   </lr:hierarchicalSubject>\n" if paths else ""
    history = "".join(
        f'     <rdf:li\n      stEvt:action="saved"\n      stEvt:instanceID="xmp.iid:{chance.getrandbits(64):016x}"\n'
        f'      stEvt:changed="/metadata"/>\n'
        for _ in range(chance.randrange(1, 4))
    )
    return (
        f'<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe XMP Core 7.0-c000">\n <rdf:RDF xmlns:rdf="{RDF}">\n'
        '  <rdf:Description rdf:about=""\n    xmlns:tiff="http://ns.adobe.com/tiff/1.0/"\n'
        '    xmlns:xmp="http://ns.adobe.com/xap/1.0/"\n    xmlns:dc="http://purl.org/dc/elements/1.1/"\n'
        '    xmlns:lr="http://ns.adobe.com/lightroom/1.0/"\n    xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"\n'
        '    xmlns:stEvt="http://ns.adobe.com/xap/1.0/sType/ResourceEvent#"\n'
        '    xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"\n'
        f'   tiff:Make="NIKON"\n   xmp:Rating="{chance.randrange(6)}"{settings}\n   crs:HasSettings="True">\n'
        f"{subject}{tree}   <xmpMM:History>\n    <rdf:Seq>\n{history}    </rdf:Seq>\n   </xmpMM:History>\n"
        '   <dc:rights>\n    <rdf:Alt>\n     <rdf:li xml:lang="x-default">© somebody</rdf:li>\n    </rdf:Alt>\n'
        "   </dc:rights>\n"
        "  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n"
    )


def digikam(words: list[str], paths: list[str], chance: random.Random) -> str:
    """An XML declaration, its own tag list as a sequence, several spellings of the same tree."""
    slashed = [path.replace("|", "/") for path in paths] or words
    subject = f"   <dc:subject>{_bag(words, '    ', chr(10))}   </dc:subject>\n" if words else ""
    lists = f"   <digiKam:TagsList>{_bag(slashed, '    ', chr(10), 'Seq')}   </digiKam:TagsList>\n"
    lists += f"   <MicrosoftPhoto:LastKeywordXMP>{_bag(slashed, '    ', chr(10))}   </MicrosoftPhoto:LastKeywordXMP>\n"
    tree = f"   <lr:hierarchicalSubject>{_bag(paths, '    ', chr(10))}   </lr:hierarchicalSubject>\n" if paths else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">\n'
        f' <rdf:RDF xmlns:rdf="{RDF}">\n  <rdf:Description rdf:about=""\n'
        '    xmlns:digiKam="http://www.digikam.org/ns/1.0/"\n'
        '    xmlns:MicrosoftPhoto="http://ns.microsoft.com/photo/1.0/"\n'
        '    xmlns:dc="http://purl.org/dc/elements/1.1/"\n    xmlns:lr="http://ns.adobe.com/lightroom/1.0/"\n'
        f'   digiKam:PickLabel="{chance.randrange(4)}"\n   digiKam:ColorLabel="{chance.randrange(9)}">\n'
        f"{lists}{subject}{tree}  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n"
    )


def darktable(words: list[str], paths: list[str], chance: random.Random) -> str:
    """Its history as attributes of list entries, masks as hexadecimal text, no wrapper."""
    steps = "".join(
        f'     <rdf:li\n      darktable:num="{n}"\n      darktable:operation="exposure"\n'
        f'      darktable:params="{chance.getrandbits(200):050x}"/>\n'
        for n in range(chance.randrange(1, 6))
    )
    subject = f"   <dc:subject>{_bag(words, '    ', chr(10))}   </dc:subject>\n" if words else ""
    tree = f"   <lr:hierarchicalSubject>{_bag(paths, '    ', chr(10))}   </lr:hierarchicalSubject>\n" if paths else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">\n'
        f' <rdf:RDF xmlns:rdf="{RDF}">\n  <rdf:Description rdf:about=""\n'
        '    xmlns:xmp="http://ns.adobe.com/xap/1.0/"\n    xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"\n'
        '    xmlns:dc="http://purl.org/dc/elements/1.1/"\n    xmlns:lr="http://ns.adobe.com/lightroom/1.0/"\n'
        '    xmlns:darktable="http://darktable.sf.net/"\n'
        f'   xmp:Rating="{chance.randrange(-1, 6)}"\n   xmpMM:DerivedFrom="IMG {chance.randrange(9999)}.CR2"\n'
        f'   darktable:xmp_version="5"\n   darktable:raw_params="0">\n{subject}{tree}'
        "   <darktable:masks_history>\n    <rdf:Seq/>\n   </darktable:masks_history>\n"
        f"   <darktable:history>\n    <rdf:Seq>\n{steps}    </rdf:Seq>\n   </darktable:history>\n"
        "  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n"
    )


def immich(words: list[str], paths: list[str], chance: random.Random) -> str:
    """As exiftool writes it: one description for each namespace, single quotes, padding after the packet."""
    parts = [
        f" <rdf:Description rdf:about=''\n  xmlns:exif='http://ns.adobe.com/exif/1.0/'>\n"
        f"  <exif:GPSLatitude>{chance.randrange(60)},{chance.uniform(0, 60):.4f}N</exif:GPSLatitude>\n"
        " </rdf:Description>"
    ]
    if words:
        parts.append(
            " <rdf:Description rdf:about=''\n  xmlns:dc='http://purl.org/dc/elements/1.1/'>\n"
            f"  <dc:subject>{_bag(words, '   ', chr(10))}  </dc:subject>\n </rdf:Description>"
        )
    parts.append(
        " <rdf:Description rdf:about=''\n  xmlns:digiKam='http://www.digikam.org/ns/1.0/'>\n"
        f"  <digiKam:TagsList>{_bag([path.replace('|', '/') for path in paths] or words, '   ', chr(10), 'Seq')}"
        "  </digiKam:TagsList>\n </rdf:Description>"
    )
    if paths:
        parts.append(
            " <rdf:Description rdf:about=''\n  xmlns:lr='http://ns.adobe.com/lightroom/1.0/'>\n"
            f"  <lr:hierarchicalSubject>{_bag(paths, '   ', chr(10))}  </lr:hierarchicalSubject>\n </rdf:Description>"
        )
    chance.shuffle(parts)
    body = "\n\n".join(parts)
    return (
        "<?xpacket begin='\ufeff' id='W5M0MpCehiHzreSzNTczkc9d'?>\n"
        "<x:xmpmeta xmlns:x='adobe:ns:meta/' x:xmptk='Image::ExifTool 12.70'>\n"
        f"<rdf:RDF xmlns:rdf='{RDF}'>\n\n{body}\n</rdf:RDF>\n</x:xmpmeta>\n"
        + (" " * 99 + "\n") * chance.randrange(0, 20)
        + "<?xpacket end='w'?>"
    )


PROGRAMS: dict[str, Callable[[list[str], list[str], random.Random], str]] = {
    "lightroom": lightroom,
    "digikam": digikam,
    "darktable": darktable,
    "immich": immich,
}


def other_program(name: str, seed: int) -> tuple[bytes, list[str]]:
    """A sidecar as that program might have written it, and its words."""
    chance = random.Random(f"{name} {seed}")  # noqa: S311  variety, not secrets
    words = chance.sample(WORDS, chance.randrange(0, 5))
    paths = [f"Places|Europe|{word}" for word in words if "|" not in word][: chance.randrange(0, 3)]
    text = PROGRAMS[name](words, paths, chance)
    if chance.random() < 0.2:
        text = text.replace("\n", "\r\n")
    if chance.random() < 0.15:
        text = (
            text.replace("rdf:", "R:")
            .replace("xmlns:rdf=", "xmlns:R=")
            .replace("dc:", "core:")
            .replace("xmlns:dc=", "xmlns:core=")
        )
    encodings = ["utf-8", "utf-8", "utf-8", "utf-8-sig"]
    if not text.startswith("<?xml "):  # where no encoding is declared, others are possible
        encodings += ["utf-16"]
    return text.encode(chance.choice(encodings)), words


def odd_documents() -> dict[str, str]:
    """Rare and old forms, each of which some program once wrote."""
    dc, lr = 'xmlns:dc="http://purl.org/dc/elements/1.1/"', 'xmlns:lr="http://ns.adobe.com/lightroom/1.0/"'

    def rdf(inner: str) -> str:
        return f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="{RDF}">{inner}</rdf:RDF></x:xmpmeta>'

    def described(inner: str) -> str:
        return f"<rdf:Description {dc}>{inner}</rdf:Description>"

    def subject(inner: str) -> str:
        return rdf(described(f"<dc:subject>{inner}</dc:subject>"))

    bag = "<rdf:Bag><rdf:li>one</rdf:li></rdf:Bag>"
    two = described("<dc:subject><rdf:Bag><rdf:li>two</rdf:li><rdf:li>ONE</rdf:li></rdf:Bag></dc:subject>")
    tree = f"<lr:hierarchicalSubject {lr}><rdf:Bag/></lr:hierarchicalSubject>"
    plain = f"<Description {dc}><dc:subject><Bag><li>one</li></Bag></dc:subject></Description>"
    return {
        "bare": f'<rdf:RDF xmlns:rdf="{RDF}"></rdf:RDF>',
        "single RDF": f'<a:RDF xmlns:a="{RDF}"/>',
        "single description": rdf('<rdf:Description rdf:about="" xmlns:q="urn:q" q:a="1"/>'),
        "empty description": rdf(described("")),
        "attribute": rdf(f"<rdf:Description {dc} dc:subject={quoteattr('a & b')} dc:title='t'/>"),
        "attribute and more": rdf(
            f"<rdf:Description {dc}\n  dc:subject = 'one'><dc:title>t</dc:title></rdf:Description>"
        ),
        "literal": subject(" one <!-- c -->"),
        "empty subject": rdf(described("\n <dc:subject/>\n")),
        "empty bag": rdf(described("\n <dc:subject>\n  <rdf:Bag/>\n </dc:subject>\n")),
        "open bag": subject("<rdf:Bag></rdf:Bag>"),
        "sequence": subject("<rdf:Seq><rdf:li>one</rdf:li></rdf:Seq>"),
        "choice": subject('<rdf:Alt><rdf:li xml:lang="x-default">one</rdf:li></rdf:Alt>'),
        "comments": subject("<!--a--><rdf:Bag><!--b--><rdf:li>o<!--c-->ne</rdf:li><!--d--></rdf:Bag><!--e-->"),
        "character data": subject("<rdf:Bag><rdf:li><![CDATA[a<b]]>&#233;&amp;</rdf:li></rdf:Bag>"),
        "default namespace": f'<RDF xmlns="{RDF}">{plain}</RDF>',
        "two subjects": rdf(described(f"<dc:subject>{bag}</dc:subject>") + two),
        "declared inside": rdf(f"<rdf:Description><dc:subject {dc}>{bag}</dc:subject>{tree}</rdf:Description>"),
        "latin": '<?xml version="1.0" encoding="ISO-8859-1"?>' + subject(bag.replace("one", "Käse")),
    }
