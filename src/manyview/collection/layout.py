"""What is in a collection's folder: file names, the catalogue's tables, and how older formats become this one.

::

    holiday.manyview/
    ├── catalog.sqlite     every table below
    ├── views/<view>/      feature segments: <segment>.npy, or .data.npy, .indices.npy and .indptr.npy
    ├── thumbs/            packs of thumbnails, many in one file
    ├── runs/<run>/        fitted models: manifest.json and .npy
    ├── undo/<batch>/      sidecars as they were before manyview wrote to them
    ├── answers.jsonl      every answer of a person a second time, one line of JSON each
    ├── set-aside/<time>/  what `manyview doctor --repair` has replaced
    ├── journal            names of the files being read just now
    └── lock, readers      who writes, who reads

A file that the catalogue does not name does not exist. Paths and keys are bytes, for names that are not UTF-8.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["APPLICATION", "CATALOG", "FORMAT", "MIGRATIONS", "NAMES", "view_folder"]

CATALOG = "catalog.sqlite"
VIEWS = "views"
THUMBS = "thumbs"
RUNS = "runs"
UNDO = "undo"
ANSWERS = "answers.jsonl"
ASIDE = "set-aside"
JOURNAL = "journal"
LOCK = "lock"
READERS = "readers"
FOLDERS = (VIEWS, THUMBS, RUNS, UNDO)
NAMES = frozenset(
    {
        CATALOG,
        f"{CATALOG}-wal",
        f"{CATALOG}-shm",
        f"{CATALOG}-journal",
        ANSWERS,
        ASIDE,
        JOURNAL,
        LOCK,
        READERS,
        *FOLDERS,
    }
)
"""Everything that may stand in the folder."""

APPLICATION = 0x6D766577
"""SQLite's application_id, so that the catalogue is known for ours: "mvew"."""

_SCHEMA_1 = """
CREATE TABLE sources (            -- where items come from
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('folder', 'table', 'features')),
    path BLOB NOT NULL,           -- of the folder or file itself, absolute
    root BLOB NOT NULL,           -- the folder that items' paths start from; nothing outside it is read
    settings TEXT NOT NULL,       -- JSON
    complete INTEGER NOT NULL DEFAULT 0,
    UNIQUE (path)
) STRICT;

CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    source_id INTEGER NOT NULL REFERENCES sources (id),
    key BLOB NOT NULL,            -- what its owner calls it: the path in a folder, the id in a table
    kind TEXT NOT NULL CHECK (kind IN ('picture', 'video', 'document', 'row')),
    path BLOB,                    -- relative to the source's root; NULL where there is no file
    size INTEGER, mtime_ns INTEGER, device INTEGER, inode INTEGER,
    beside TEXT NOT NULL DEFAULT '',  -- its sidecars as they were read: names, sizes, times
    format TEXT, width INTEGER, height INTEGER,
    text TEXT,
    fields TEXT,                  -- JSON: the other columns of a table
    fingerprint INTEGER,          -- perceptual hash, 64 bits as a signed number
    signature BLOB,               -- the picture at a few pixels, to tell apart what the hash cannot
    duplicate_of INTEGER REFERENCES items (id),
    state TEXT NOT NULL DEFAULT 'here' CHECK (state IN ('here', 'bad', 'gone')),
    UNIQUE (source_id, key)
) STRICT;
CREATE INDEX items_by_duplicate ON items (duplicate_of) WHERE duplicate_of IS NOT NULL;

CREATE TABLE problems (           -- files that could not be used, or only in part, and why
    id INTEGER PRIMARY KEY,
    source_id INTEGER NOT NULL REFERENCES sources (id),
    path BLOB NOT NULL,
    item_id INTEGER REFERENCES items (id),
    stage TEXT NOT NULL,          -- 'ingest', or the name of a view
    reason TEXT NOT NULL,         -- a class, for machines
    sentence TEXT NOT NULL,       -- for people
    is_bad INTEGER NOT NULL,      -- 0: a note about something that was left out
    UNIQUE (source_id, path, stage, reason)
) STRICT;
CREATE INDEX problems_by_item ON problems (item_id) WHERE item_id IS NOT NULL;

CREATE TABLE tags (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,           -- as it was first written
    folded TEXT NOT NULL UNIQUE   -- NFC and without case: for matching only
) STRICT;

CREATE TABLE item_tags (          -- what the files and tables say; what people say is in decisions
    item_id INTEGER NOT NULL REFERENCES items (id),
    tag_id INTEGER NOT NULL REFERENCES tags (id),
    source TEXT NOT NULL CHECK (source IN ('file', 'sidecar', 'table')),
    spelling TEXT,                -- where it differs from the tag's name
    PRIMARY KEY (item_id, tag_id, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_tags_by_tag ON item_tags (tag_id, item_id);

CREATE TABLE tag_paths (          -- hierarchical keywords; a path adds no tag
    id INTEGER PRIMARY KEY,
    parts TEXT NOT NULL UNIQUE    -- JSON list, from the most general
) STRICT;

CREATE TABLE item_paths (
    item_id INTEGER NOT NULL REFERENCES items (id),
    path_id INTEGER NOT NULL REFERENCES tag_paths (id),
    source TEXT NOT NULL CHECK (source IN ('file', 'sidecar', 'table')),
    PRIMARY KEY (item_id, path_id, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE views (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,        -- of the extractor; another version means other numbers
    is_sparse INTEGER NOT NULL,
    dtype TEXT NOT NULL,
    n_columns INTEGER NOT NULL,
    columns TEXT,                 -- JSON list of the columns' names, where known
    settings TEXT NOT NULL        -- JSON
) STRICT;

CREATE TABLE view_state (         -- what an extractor learned: numbers and words as JSON, arrays as .npy bytes
    view_id INTEGER NOT NULL REFERENCES views (id),
    name TEXT NOT NULL,
    is_array INTEGER NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (view_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE segments (
    id INTEGER PRIMARY KEY,
    view_id INTEGER NOT NULL REFERENCES views (id),
    name TEXT NOT NULL UNIQUE,    -- of its files
    n_rows INTEGER NOT NULL,
    n_values INTEGER NOT NULL,    -- stored numbers
    items BLOB NOT NULL           -- the item of each row: int64, little-endian, ascending
) STRICT;

CREATE TABLE dropped_rows (       -- rows of a segment that no longer count
    segment_id INTEGER NOT NULL REFERENCES segments (id),
    item_id INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (segment_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE lacking_rows (       -- items that were looked at and have nothing to show in a view
    view_id INTEGER NOT NULL REFERENCES views (id),
    item_id INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (view_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE packs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL
) STRICT;

CREATE TABLE thumbs (
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    pack_id INTEGER NOT NULL REFERENCES packs (id),
    start INTEGER NOT NULL,
    length INTEGER NOT NULL
) STRICT;

CREATE TABLE retired (            -- files of older states, to be removed once nobody reads them
    path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number is never given twice
    kind TEXT NOT NULL CHECK (kind IN ('fit', 'suggest')),
    method TEXT NOT NULL,
    settings TEXT NOT NULL,       -- JSON
    views TEXT NOT NULL,          -- JSON: name -> version
    figures TEXT NOT NULL,        -- JSON: what was measured
    model TEXT,                   -- folder under runs/
    made_at TEXT NOT NULL,
    seconds REAL NOT NULL
) STRICT;

CREATE TABLE labels (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    item_id INTEGER NOT NULL REFERENCES items (id),
    label INTEGER NOT NULL,       -- -1: in no cluster
    confidence REAL,
    PRIMARY KEY (run_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_label ON labels (run_id, label, item_id);

CREATE TABLE clusters (           -- identities that outlive a run, and what a person said of them
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number is never given twice
    name TEXT,                    -- given by a person; NULL: the run's own name counts
    is_pinned INTEGER NOT NULL DEFAULT 0,
    merged_into INTEGER REFERENCES clusters (id)
) STRICT;

CREATE TABLE run_clusters (       -- which identity a label of a run has, and what the run says of it
    run_id INTEGER NOT NULL REFERENCES runs (id),
    label INTEGER NOT NULL,
    cluster_id INTEGER NOT NULL REFERENCES clusters (id),
    name TEXT,
    profile TEXT,                 -- JSON
    PRIMARY KEY (run_id, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE placements (         -- items a person put into a cluster
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    cluster_id INTEGER NOT NULL REFERENCES clusters (id)
) STRICT;

CREATE TABLE links (              -- pairs a person wants together, or apart
    first_id INTEGER NOT NULL REFERENCES items (id),
    second_id INTEGER NOT NULL REFERENCES items (id),
    together INTEGER NOT NULL,
    PRIMARY KEY (first_id, second_id),
    CHECK (first_id < second_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE proposals (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    item_id INTEGER NOT NULL REFERENCES items (id),
    tag_id INTEGER NOT NULL REFERENCES tags (id),
    score REAL NOT NULL,
    probability REAL,
    reason TEXT,                  -- JSON
    PRIMARY KEY (run_id, item_id, tag_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_by_tag ON proposals (run_id, tag_id, score);

CREATE TABLE decisions (          -- the last word of a person on a tag of an item; outlives every run
    item_id INTEGER NOT NULL REFERENCES items (id),
    tag_id INTEGER NOT NULL REFERENCES tags (id),
    answer INTEGER NOT NULL CHECK (answer IN (0, 1)),
    who TEXT NOT NULL,
    at TEXT NOT NULL,
    why TEXT,
    score REAL, probability REAL, -- of the proposal it answers
    PRIMARY KEY (item_id, tag_id)
) STRICT, WITHOUT ROWID;

CREATE VIEW known_tags AS         -- what counts: the world's word, unless a person said no, and a person's yes
    SELECT item_id, tag_id FROM item_tags WHERE NOT EXISTS (
        SELECT 1 FROM decisions WHERE decisions.item_id = item_tags.item_id
        AND decisions.tag_id = item_tags.tag_id AND answer = 0)
    UNION SELECT item_id, tag_id FROM decisions WHERE answer = 1;

CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    kind TEXT NOT NULL,
    summary TEXT NOT NULL,
    detail TEXT NOT NULL,         -- JSON
    undoes INTEGER REFERENCES history (id),
    undone_by INTEGER REFERENCES history (id)
) STRICT;

CREATE TABLE changes (            -- the rows an entry changed, as they were and as they became
    history_id INTEGER NOT NULL REFERENCES history (id),
    position INTEGER NOT NULL,
    of_table TEXT NOT NULL,
    row_key TEXT NOT NULL,        -- JSON list
    before TEXT,                  -- JSON object; NULL: there was no row
    after TEXT,
    PRIMARY KEY (history_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_row ON changes (of_table, row_key, history_id);
"""

_SCHEMA_2 = """
CREATE VIRTUAL TABLE item_words USING fts5 (  -- names and texts of items by word; rowid is the item's number
    name, text, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO item_words (rowid, name, text) SELECT id, CAST(key AS TEXT), text FROM items;
CREATE TRIGGER items_insert_words AFTER INSERT ON items BEGIN
    INSERT INTO item_words (rowid, name, text) VALUES (new.id, CAST(new.key AS TEXT), new.text);
END;
CREATE TRIGGER items_update_words AFTER UPDATE OF key, text ON items
WHEN old.key IS NOT new.key OR old.text IS NOT new.text BEGIN
    INSERT INTO item_words (item_words, rowid, name, text)
        VALUES ('delete', old.id, CAST(old.key AS TEXT), old.text);
    INSERT INTO item_words (rowid, name, text) VALUES (new.id, CAST(new.key AS TEXT), new.text);
END;

CREATE TABLE maps (               -- where the items of a run lie on a plane
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    settings TEXT NOT NULL,       -- JSON
    items BLOB NOT NULL,          -- int64, little-endian, ascending
    places BLOB NOT NULL,         -- float32, little-endian: x and y of each item
    made_at TEXT NOT NULL
) STRICT;

CREATE TABLE versions (           -- counts the changes of each part, so that a reader knows what it has seen
    part TEXT PRIMARY KEY,
    n INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO versions (part) VALUES ('items'), ('tags'), ('decisions'), ('runs'), ('edits'), ('history');
"""

_SCHEMA_2 += """
ALTER TABLE proposals ADD COLUMN record REAL;     -- how likely the owner's own record would hold the tag
ALTER TABLE proposals ADD COLUMN untouched REAL;  -- how likely nobody has looked at the item yet
ALTER TABLE proposals ADD COLUMN teaches REAL NOT NULL DEFAULT 0;     -- how much its answer would tell
ALTER TABLE proposals ADD COLUMN is_open INTEGER NOT NULL DEFAULT 1;  -- item there, tag unknown; kept by the triggers
ALTER TABLE decisions ADD COLUMN record REAL;     -- of the proposal it answers, like the next two
ALTER TABLE decisions ADD COLUMN untouched REAL;
ALTER TABLE decisions ADD COLUMN tags_per_item REAL;  -- of the tagged items, when that proposal was made
ALTER TABLE decisions ADD COLUMN is_reviewed INTEGER NOT NULL DEFAULT 0;  -- a person looked at this very pair

DROP INDEX proposals_by_tag;
CREATE INDEX runs_by_kind ON runs (kind, id);
CREATE INDEX proposals_by_certainty ON proposals (run_id, is_open, probability DESC, score DESC, item_id, tag_id);
CREATE INDEX proposals_by_tag ON proposals (run_id, is_open, tag_id, probability DESC, score DESC, item_id, teaches);
CREATE INDEX proposals_by_use ON proposals (run_id, is_open, teaches DESC, item_id, tag_id, probability);

CREATE TABLE proposal_sums (      -- open proposals by thousandths of probability, of each tag and (tag 0) of all
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tag_id INTEGER NOT NULL,
    part INTEGER NOT NULL,        -- 0 to 1000
    n INTEGER NOT NULL,
    total REAL NOT NULL,          -- of their probabilities
    PRIMARY KEY (run_id, tag_id, part)
) STRICT, WITHOUT ROWID;
UPDATE proposals SET is_open = 0 WHERE EXISTS (
        SELECT 1 FROM items WHERE items.id = proposals.item_id AND state <> 'here')
    OR EXISTS (SELECT 1 FROM decisions AS d WHERE d.item_id = proposals.item_id AND d.tag_id = proposals.tag_id)
    OR EXISTS (SELECT 1 FROM item_tags AS t WHERE t.item_id = proposals.item_id AND t.tag_id = proposals.tag_id);
INSERT INTO proposal_sums SELECT run_id, tag_id, CAST(1000 * probability AS INTEGER), count(*), sum(probability)
    FROM proposals WHERE is_open = 1 AND probability IS NOT NULL GROUP BY 1, 2, 3;
INSERT INTO proposal_sums SELECT run_id, 0, part, sum(n), sum(total) FROM proposal_sums GROUP BY 1, 2, 3;

CREATE TRIGGER proposals_change_sums AFTER UPDATE OF is_open ON proposals
WHEN new.is_open <> old.is_open AND new.probability IS NOT NULL BEGIN
    INSERT OR IGNORE INTO proposal_sums VALUES
        (new.run_id, new.tag_id, CAST(1000 * new.probability AS INTEGER), 0, 0),
        (new.run_id, 0, CAST(1000 * new.probability AS INTEGER), 0, 0);
    UPDATE proposal_sums SET n = n + new.is_open - old.is_open,
        total = total + (new.is_open - old.is_open) * new.probability
        WHERE run_id = new.run_id AND tag_id IN (0, new.tag_id) AND part = CAST(1000 * new.probability AS INTEGER);
END;
CREATE TRIGGER decisions_close AFTER INSERT ON decisions BEGIN
    UPDATE proposals SET is_open = 0 WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest')
        AND item_id = new.item_id AND tag_id = new.tag_id;
END;
CREATE TRIGGER item_tags_close AFTER INSERT ON item_tags BEGIN
    UPDATE proposals SET is_open = 0 WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest')
        AND item_id = new.item_id AND tag_id = new.tag_id;
END;
CREATE TRIGGER decisions_open AFTER DELETE ON decisions BEGIN
    UPDATE proposals SET is_open = 1 WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest')
        AND item_id = old.item_id AND tag_id = old.tag_id
        AND EXISTS (SELECT 1 FROM items WHERE id = old.item_id AND state = 'here')
        AND NOT EXISTS (SELECT 1 FROM item_tags AS t WHERE t.item_id = old.item_id AND t.tag_id = old.tag_id);
END;
CREATE TRIGGER item_tags_open AFTER DELETE ON item_tags BEGIN
    UPDATE proposals SET is_open = 1 WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest')
        AND item_id = old.item_id AND tag_id = old.tag_id
        AND EXISTS (SELECT 1 FROM items WHERE id = old.item_id AND state = 'here')
        AND NOT EXISTS (SELECT 1 FROM decisions AS d WHERE d.item_id = old.item_id AND d.tag_id = old.tag_id)
        AND NOT EXISTS (SELECT 1 FROM item_tags AS t WHERE t.item_id = old.item_id AND t.tag_id = old.tag_id);
END;
CREATE TRIGGER items_open_or_close AFTER UPDATE OF state ON items WHEN new.state <> old.state BEGIN
    UPDATE proposals SET is_open = new.state = 'here'
        AND NOT EXISTS (SELECT 1 FROM decisions AS d WHERE d.item_id = new.id AND d.tag_id = proposals.tag_id)
        AND NOT EXISTS (SELECT 1 FROM item_tags AS t WHERE t.item_id = new.id AND t.tag_id = proposals.tag_id)
        WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest') AND item_id = new.id;
END;

CREATE TABLE evaluations (        -- what `eval` found; the newest is shown in reports
    id INTEGER PRIMARY KEY,
    made_at TEXT NOT NULL,
    settings TEXT NOT NULL,       -- JSON
    found TEXT NOT NULL           -- JSON
) STRICT;

CREATE TABLE pinned_items (       -- the members that a pinned cluster keeps, whatever a refit says
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    cluster_id INTEGER NOT NULL REFERENCES clusters (id)
) STRICT;

CREATE TABLE adjustments (        -- items that are in another cluster than their label says because of an edit
    run_id INTEGER NOT NULL REFERENCES runs (id),
    item_id INTEGER NOT NULL REFERENCES items (id),
    cluster_id INTEGER NOT NULL REFERENCES clusters (id),
    apart_from INTEGER REFERENCES items (id),  -- counts while these two are kept apart; NULL: joined what a split made
    PRIMARY KEY (run_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster_profiles (   -- clusters as they are after edits and additions: what is said of them
    run_id INTEGER NOT NULL REFERENCES runs (id),
    cluster_id INTEGER NOT NULL REFERENCES clusters (id),
    members TEXT NOT NULL,        -- a digest of the members it was made of; with others it does not count
    name TEXT NOT NULL,
    profile TEXT NOT NULL,        -- JSON
    PRIMARY KEY (run_id, cluster_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE started_update (     -- where every item was when an addition began that has not ended yet
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    cluster_id INTEGER NOT NULL   -- -1: in none
) STRICT;
"""

_SCHEMA_2 += """
CREATE TABLE batches (            -- one `apply`: files written together, to be undone together
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target TEXT NOT NULL CHECK (target IN ('xmp', 'embedded')),
    token TEXT NOT NULL,          -- part of the names of its temporary files
    history_id INTEGER REFERENCES history (id)  -- NULL: still under way
) STRICT;

CREATE TABLE writes (             -- files that a batch has written, or was about to when it was stopped
    batch_id INTEGER NOT NULL REFERENCES batches (id),
    number INTEGER NOT NULL,
    path BLOB NOT NULL,           -- absolute
    items TEXT NOT NULL,          -- JSON: the items it speaks of
    state TEXT NOT NULL CHECK (state IN ('planned', 'written', 'undone')),
    before TEXT,                  -- SHA-256 of the file as it was; NULL: there was none
    after TEXT NOT NULL,          -- and as we wrote it
    kept TEXT,                    -- the file under undo/<batch>/ that holds it as it was
    edit TEXT NOT NULL,           -- JSON: words and paths that were put in and taken out
    PRIMARY KEY (batch_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE write_back (         -- how the last writing of an item's tags ended
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    state TEXT NOT NULL CHECK (state IN ('pending', 'written', 'failed')),
    reason TEXT,                  -- why it failed, for people
    at TEXT NOT NULL
) STRICT;

CREATE TABLE written_tags (       -- tags that stand in a file by our hand
    item_id INTEGER NOT NULL REFERENCES items (id),
    tag_id INTEGER NOT NULL REFERENCES tags (id),
    target TEXT NOT NULL CHECK (target IN ('xmp', 'embedded')),
    PRIMARY KEY (item_id, tag_id, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE removals (           -- tags that stood in a file when a person said no to them, and have to go from there;
    item_id INTEGER NOT NULL REFERENCES items (id),  -- what another program adds after that "no" is not among them
    tag_id INTEGER NOT NULL REFERENCES tags (id),
    target TEXT NOT NULL CHECK (target IN ('xmp', 'embedded')),
    PRIMARY KEY (item_id, tag_id, target)
) STRICT, WITHOUT ROWID;
CREATE VIEW removable_tags AS     -- what stands in files, as far as we know
    SELECT item_id, tag_id, iif(source = 'file', 'embedded', 'xmp') AS target FROM item_tags WHERE source <> 'table'
    UNION ALL SELECT item_id, tag_id, target FROM written_tags;
INSERT OR IGNORE INTO removals SELECT item_id, tag_id, target FROM removable_tags JOIN decisions USING (item_id, tag_id)
    WHERE answer = 0;
CREATE TRIGGER decisions_insert_removal AFTER INSERT ON decisions WHEN new.answer = 0 BEGIN
    INSERT OR IGNORE INTO removals SELECT item_id, tag_id, target FROM removable_tags
        WHERE item_id = new.item_id AND tag_id = new.tag_id;
END;
CREATE TRIGGER decisions_update_removal AFTER UPDATE OF answer ON decisions WHEN new.answer <> old.answer BEGIN
    DELETE FROM removals WHERE item_id = new.item_id AND tag_id = new.tag_id;
    INSERT OR IGNORE INTO removals SELECT item_id, tag_id, target FROM removable_tags
        WHERE new.answer = 0 AND item_id = new.item_id AND tag_id = new.tag_id;
END;
CREATE TRIGGER decisions_delete_removal AFTER DELETE ON decisions BEGIN
    DELETE FROM removals WHERE item_id = old.item_id AND tag_id = old.tag_id;
END;
"""

_COUNTED_2 = {
    "items": ("items", "sources", "problems", "segments", "packs", "thumbs"),
    "tags": ("item_tags",),
    "decisions": ("decisions",),
    "runs": ("runs", "labels", "run_clusters", "maps"),
    "edits": ("clusters", "placements", "links", "pinned_items", "adjustments", "cluster_profiles"),
    "history": ("history",),
}
"""Part of the collection -> the tables whose changes its number counts."""

_SCHEMA_2 += "".join(
    f"CREATE TRIGGER {table}_{event.lower()}_counts AFTER {event} ON {table} "  # noqa: S608  names of the schema
    f"BEGIN UPDATE versions SET n = n + 1 WHERE part = '{part}'; END;\n"
    for part, tables in _COUNTED_2.items()
    for table in tables
    for event in ("INSERT", "UPDATE", "DELETE")
)

_SCHEMA_3 = """
ALTER TABLE items ADD COLUMN content BLOB;    -- SHA-256 of the file: what it is known by wherever it goes
ALTER TABLE sources ADD COLUMN content BLOB;  -- the same of a table or a file of features
CREATE INDEX items_by_size ON items (size) WHERE path IS NOT NULL;
"""

_SCHEMA_4 = """
CREATE TABLE tag_care (           -- what a person says of a tag itself, on whatever item it is
    tag_id INTEGER PRIMARY KEY REFERENCES tags (id),
    name TEXT,                    -- how it is spelled; NULL: as it is spelled most often
    alias_of INTEGER REFERENCES tags (id),   -- the tag it counts as wherever it is read or typed
    parent_id INTEGER REFERENCES tags (id),  -- the tag right above it, whatever the paths in files say
    is_top INTEGER NOT NULL DEFAULT 0,       -- it has none above it, whatever they say
    is_retired INTEGER NOT NULL DEFAULT 0,   -- not to be used any more
    is_silent INTEGER NOT NULL DEFAULT 0     -- never proposed
) STRICT;
CREATE VIEW silent_tags AS        -- what is not proposed
    SELECT tag_id FROM tag_care WHERE is_silent = 1 OR is_retired = 1 OR alias_of IS NOT NULL;
CREATE VIEW said_tags AS          -- what files and tables say, as it counts: a word that has gone into another is that
    SELECT item_id, coalesce(alias_of, item_tags.tag_id) AS tag_id, item_tags.tag_id AS own_id, source, spelling
    FROM item_tags LEFT JOIN tag_care ON tag_care.tag_id = item_tags.tag_id  -- one, unless a person took it away
    WHERE alias_of IS NULL OR NOT EXISTS (SELECT 1 FROM decisions WHERE decisions.item_id = item_tags.item_id
        AND decisions.tag_id = item_tags.tag_id AND answer = 0);
DROP VIEW known_tags;
CREATE VIEW known_tags AS         -- what counts: the world's word, unless a person said no, and a person's yes
    SELECT item_id, tag_id FROM said_tags WHERE NOT EXISTS (
        SELECT 1 FROM decisions WHERE decisions.item_id = said_tags.item_id
        AND decisions.tag_id = said_tags.tag_id AND answer = 0)
    UNION SELECT item_id, tag_id FROM decisions WHERE answer = 1;
CREATE VIEW closed_pairs AS       -- what is not open, whatever was proposed
    SELECT item_id, tag_id FROM decisions UNION ALL SELECT item_id, tag_id FROM said_tags;

DROP TRIGGER item_tags_close;
CREATE TRIGGER item_tags_close AFTER INSERT ON item_tags BEGIN
    UPDATE proposals SET is_open = 0 WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest')
        AND item_id = new.item_id
        AND tag_id = coalesce((SELECT alias_of FROM tag_care WHERE tag_id = new.tag_id), new.tag_id);
END;
DROP TRIGGER decisions_open;
DROP TRIGGER item_tags_open;
DROP TRIGGER items_open_or_close;
CREATE TRIGGER decisions_open AFTER DELETE ON decisions BEGIN
    UPDATE proposals SET is_open = 1 WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest')
        AND item_id = old.item_id AND tag_id = old.tag_id
        AND EXISTS (SELECT 1 FROM items WHERE id = old.item_id AND state = 'here')
        AND old.tag_id NOT IN silent_tags
        AND NOT EXISTS (SELECT 1 FROM item_tags AS t WHERE t.item_id = old.item_id AND t.tag_id = old.tag_id);
END;
CREATE TRIGGER item_tags_open AFTER DELETE ON item_tags BEGIN
    UPDATE proposals SET is_open = 1 WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest')
        AND item_id = old.item_id AND tag_id = old.tag_id
        AND EXISTS (SELECT 1 FROM items WHERE id = old.item_id AND state = 'here')
        AND old.tag_id NOT IN silent_tags
        AND NOT EXISTS (SELECT 1 FROM closed_pairs AS c WHERE c.item_id = old.item_id AND c.tag_id = old.tag_id);
END;
CREATE TRIGGER items_open_or_close AFTER UPDATE OF state ON items WHEN new.state <> old.state BEGIN
    UPDATE proposals SET is_open = new.state = 'here' AND proposals.tag_id NOT IN silent_tags
        AND NOT EXISTS (SELECT 1 FROM closed_pairs AS c WHERE c.item_id = new.id AND c.tag_id = proposals.tag_id)
        WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest') AND item_id = new.id;
END;
"""

_SCHEMA_4 += "".join(
    f"""CREATE TRIGGER tag_care_{event.lower()}_open_or_close AFTER {event} ON tag_care BEGIN
    UPDATE proposals SET is_open = {row}.tag_id NOT IN silent_tags
        AND EXISTS (SELECT 1 FROM items WHERE id = proposals.item_id AND state = 'here') AND NOT EXISTS (
        SELECT 1 FROM closed_pairs AS c WHERE c.item_id = proposals.item_id AND c.tag_id = {row}.tag_id)
        WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest') AND tag_id = {row}.tag_id;
    UPDATE versions SET n = n + 1 WHERE part IN ('tags', 'decisions');
END;
"""  # noqa: S608  names of the schema
    for event, row in (("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old"))
)

MIGRATIONS = (_SCHEMA_1, _SCHEMA_2, _SCHEMA_3, _SCHEMA_4)
"""MIGRATIONS[n] turns format n into format n + 1. Append only: what was released is never edited."""

FORMAT = len(MIGRATIONS)
"""The format this version writes, kept as SQLite's user_version."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,59}")


def view_folder(root: Path, view_id: int, name: str) -> Path:
    """The folder of a view: its name, where that is a plain one on every file system, else its number."""
    plain = _PLAIN.fullmatch(name) and not name.endswith(".")
    return root / VIEWS / (name if plain else f"view-{view_id}")
