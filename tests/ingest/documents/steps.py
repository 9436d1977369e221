"""What tests of documents share."""

import io

from manyview.ingest.documents import DocumentReader


def document(content, kind="text", reader=None):
    """A document as the reader has it; where no child is needed, none has to be there."""
    return (reader or DocumentReader()).read(io.BytesIO(content), kind, len(content))
