"""What a person says of a tag itself: its spelling, what it counts as, where it stands, and whether it is proposed."""

SCHEMA = """
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

SCHEMA += "".join(
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
