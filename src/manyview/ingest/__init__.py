"""From the world to items: folders, tables, feature files, and the keywords that stand in files and beside them."""

from .source import Source, read_source

__all__ = ["Source", "read_source"]
