from importlib import resources

import numpy as np
import pytest

from manyview import datasets
from manyview.datasets import load_handwritten


def test_the_numerals_are_complete():
    data = load_handwritten()
    assert data.views.n_features == {"fou": 76, "fac": 216, "kar": 64, "pix": 240, "zer": 47, "mor": 6}
    assert data.views.mask.all() and {m.dtype for m in data.views.values()} == {np.dtype(np.float32)}
    assert np.bincount(data.y).tolist() == [200] * 10
    assert data.class_names == tuple("0123456789")
    assert "CC BY 4.0" in data.notice
    X, y = load_handwritten(return_X_y=True)
    assert X.shape == (2000, 6) and np.array_equal(y, data.y)


def test_pixels_show_a_digit():
    zero = load_handwritten().views["pix"][0].reshape(16, 15)
    assert zero[8, 7] == 0 and zero[8, 1] > 0 and zero[0, 7] > 0  # a ring: hollow in the middle


def test_what_ships_has_a_notice():
    from pathlib import Path

    folder = Path(datasets.__file__).parent
    for part in folder.iterdir():
        if part.is_dir() and part.name != "__pycache__":
            assert (part / "NOTICE.md").is_file()


@pytest.mark.parametrize(
    ("package", "name", "words"),
    [
        ("manyview.datasets", "emoji/LICENSE-OFL-1.1.txt", ("SIL OPEN FONT LICENSE", "PERMISSION & CONDITIONS")),
        (
            "manyview.datasets",
            "emoji/LICENSE-UNICODE.txt",
            ("UNICODE, INC. LICENSE AGREEMENT", "written authorization"),
        ),
        (
            "manyview.datasets",
            "emoji/NOTICE.md",
            ("LICENSE-OFL-1.1.txt", "LICENSE-UNICODE.txt", "LICENSE-APACHE-2.0.txt"),
        ),
        ("manyview.features", "models/LICENSE-APACHE-2.0.txt", ("Apache License", "END OF TERMS AND CONDITIONS")),
        ("manyview.features", "models/NOTICE.md", ("Google LLC", "ML Illustrated", "LICENSE-APACHE-2.0.txt")),
    ],
)
def test_licences_ship_in_full(package, name, words):
    text = (resources.files(package) / name).read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []
