"""One law of which proposals are open, asked for the rows that an event touches; what nobody used is gone."""

SCHEMA = """
DROP INDEX proposals_by_use;
DROP INDEX proposals_by_tag;
ALTER TABLE proposals DROP COLUMN teaches;
CREATE INDEX proposals_by_tag ON proposals (run_id, is_open, tag_id, probability DESC, score DESC, item_id);

DROP TRIGGER decisions_close;
DROP TRIGGER decisions_open;
DROP TRIGGER item_tags_close;
DROP TRIGGER item_tags_open;
DROP TRIGGER items_open_or_close;
DROP TRIGGER tag_care_insert_open_or_close;
DROP TRIGGER tag_care_update_open_or_close;
DROP TRIGGER tag_care_delete_open_or_close;
DROP VIEW closed_pairs;
CREATE VIEW closed_proposals AS   -- the item is gone, the tag is not proposed, a person has answered, or a file says it
    SELECT run_id, item_id, tag_id FROM proposals AS p WHERE tag_id IN silent_tags
    OR NOT EXISTS (SELECT 1 FROM items WHERE items.id = p.item_id AND state = 'here')
    OR EXISTS (SELECT 1 FROM decisions AS d WHERE d.item_id = p.item_id AND d.tag_id = p.tag_id)
    OR EXISTS (SELECT 1 FROM said_tags AS s WHERE s.item_id = p.item_id AND s.tag_id = p.tag_id);
"""

_JUDGE = """UPDATE proposals SET is_open = NOT EXISTS (SELECT 1 FROM closed_proposals AS c
        WHERE c.run_id = proposals.run_id AND c.item_id = proposals.item_id AND c.tag_id = proposals.tag_id)
        WHERE run_id = (SELECT max(id) FROM runs WHERE kind = 'suggest') AND"""
_PAIR = (
    "item_id = {row}.item_id AND tag_id IN ({row}.tag_id, (SELECT alias_of FROM tag_care WHERE tag_id = {row}.tag_id))"
)
"""A word that counts as another says something of both."""
_TOUCHED = {
    "decisions_close": ("AFTER INSERT ON decisions", _PAIR.format(row="new")),
    "decisions_turn": ("AFTER UPDATE OF answer ON decisions", _PAIR.format(row="new")),
    "decisions_open": ("AFTER DELETE ON decisions", _PAIR.format(row="old")),
    "item_tags_close": ("AFTER INSERT ON item_tags", _PAIR.format(row="new")),
    "item_tags_open": ("AFTER DELETE ON item_tags", _PAIR.format(row="old")),
    "items_open_or_close": ("AFTER UPDATE OF state ON items WHEN new.state <> old.state", "item_id = new.id"),
}
"""Trigger -> the event, and the proposals it may open or close."""

SCHEMA += "".join(
    f"CREATE TRIGGER {name} {event} BEGIN\n    {_JUDGE} {which};\nEND;\n" for name, (event, which) in _TOUCHED.items()
)
SCHEMA += "".join(
    f"""CREATE TRIGGER tag_care_{event.lower()}_open_or_close AFTER {event} ON tag_care BEGIN
    {_JUDGE} tag_id IN ({which});
    UPDATE versions SET n = n + 1 WHERE part IN ('tags', 'decisions');
END;
"""  # noqa: S608  names of the schema
    for event, which in (
        ("INSERT", "new.tag_id, new.alias_of"),
        ("UPDATE", "new.tag_id, new.alias_of, old.alias_of"),
        ("DELETE", "old.tag_id, old.alias_of"),
    )
)
