"""Words to search, maps, sums over open proposals, edits of clusters, files written; counts of changes for readers."""

SCHEMA = """
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

SCHEMA += """
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

SCHEMA += """
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

_COUNTED = {
    "items": ("items", "sources", "problems", "segments", "packs", "thumbs"),
    "tags": ("item_tags",),
    "decisions": ("decisions",),
    "runs": ("runs", "labels", "run_clusters", "maps"),
    "edits": ("clusters", "placements", "links", "pinned_items", "adjustments", "cluster_profiles"),
    "history": ("history",),
}
"""Part of the collection -> the tables whose changes its number counts."""

SCHEMA += "".join(
    f"CREATE TRIGGER {table}_{event.lower()}_counts AFTER {event} ON {table} "  # noqa: S608  names of the schema
    f"BEGIN UPDATE versions SET n = n + 1 WHERE part = '{part}'; END;\n"
    for part, tables in _COUNTED.items()
    for table in tables
    for event in ("INSERT", "UPDATE", "DELETE")
)
