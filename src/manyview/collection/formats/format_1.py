"""Sources, items and their tags; views and their segments; runs, clusters, proposals, decisions and the history."""

SCHEMA = """
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
