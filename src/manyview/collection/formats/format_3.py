"""What a file is known by wherever it goes: its content."""

SCHEMA = """
ALTER TABLE items ADD COLUMN content BLOB;    -- SHA-256 of the file: what it is known by wherever it goes
ALTER TABLE sources ADD COLUMN content BLOB;  -- the same of a table or a file of features
CREATE INDEX items_by_size ON items (size) WHERE path IS NOT NULL;
"""
