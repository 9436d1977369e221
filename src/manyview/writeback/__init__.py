"""From accepted tags to files beside the pictures: byte-preserving edits of XMP, and where they go."""
