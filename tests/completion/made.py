"""A small collection whose tags follow from a topic that the view shows: items to test completion on."""

import numpy as np
from scipy.sparse import csr_matrix


def collection(n_items=240, seed=0, n_topics=4, noise=0.6):
    """Looks (dense, 12), words (sparse, 20) and tags (CSR, 13): three tags per topic, and one for anybody."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(n_topics, size=n_items)
    looks = np.eye(n_topics, 12)[topic] * 2 + rng.normal(size=(n_items, 12)) * noise
    words = (rng.random((n_items, 20)) < 0.15) | (
        (np.arange(20) // 5 == topic[:, None]) & (rng.random((n_items, 20)) < 0.4)
    )
    fitting = np.arange(13) // 3 == topic[:, None]
    tags = fitting & (rng.random((n_items, 13)) < 0.6)
    tags[:, 12] = rng.random(n_items) < 0.2
    return looks, csr_matrix(words.astype(float)), csr_matrix(tags.astype(np.float32)), topic
