"""For archivists: a vocabulary that has grown for years

A catalogue as a table: pictures, titles, and keywords that several people wrote over the years. Which words mean one
thing, which were put on the wrong item, what is missing, and who decided what?
"""

# %%
# 1,849 small pictures with keywords ship with manyview. Some of the keywords are spoilt here, as years would do it.
import csv
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from drawing import panels, rows_of_pictures

from manyview import Collection
from manyview.datasets import unpack_emoji
from manyview.workflow.vocabulary.listing import kin_of_tags

place = Path("demo-output") / "archivist"
shutil.rmtree(place, ignore_errors=True)
rows = [row for row in unpack_emoji(place) if row["group"] == "Animals & Nature"]
rng = np.random.default_rng(0)
misplaced = {int(i): str(rng.choice(["bird", "flower"])) for i in rng.choice(len(rows), 8, replace=False)}
with (place / "catalogue.csv").open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["number", "picture", "title", "keywords"])
    for i, row in enumerate(rows):
        words = [word for word in row["tags"].split(";") if word] + ([misplaced[i]] if i in misplaced else [])
        words = ["Flowers" if word == "flower" and i % 2 else word for word in words]
        writer.writerow([f"A{i:03}", row["file"], row["name"], ";".join(words)])

archive = Collection.create(
    place / "archive.manyview",
    place / "catalogue.csv",
    id="number",
    image="picture",
    text="title",
    tags="keywords",
    tag_sep=";",
    root=place / "images",
)
print(archive.last_report)
print(archive.tags)

# %%
# The vocabulary, the most frequent words first, and pairs that may be one:
lines = archive.list_tags()
axes = panels(height=2.4)
axes.bar([line.tag for line in lines[:18]], [line.n_items for line in lines[:18]])
axes.tick_params(axis="x", rotation=60)
axes.set_title("items with each of the 18 most frequent keywords")
plt.show()
for kin in kin_of_tags(archive, meaning=False)[:5]:
    print(f"{kin.kind}: {kin.sentence}")

# %%
# Two words become one. Every change is an entry of the history, and can be taken back.
print(archive.edit_tags("merge", "Flowers", into="flower").entry.summary)

# %%
# Keywords that do not seem to belong, by what the titles mean and by the other keywords. Eight were put on the wrong
# items above; only those come up that everything else speaks against:
archive.fit(views=["caption"])
archive.suggest()
doubts = archive.doubtful(top=12)
numbers = {item.id: place_in for place_in, item in enumerate(archive.items)}
for one in doubts[:6]:
    row = numbers[one.item_id]
    print(f"{one.tag!r} on {rows[row]['name']!r}: {one.doubt:.0%} doubtful")
found = sum(numbers[one.item_id] in misplaced for one in doubts)
print(f"{found} of these {len(doubts)} are among the eight that were misplaced")

# %%
rows_of_pictures(
    {"doubtful": [place / "images" / rows[numbers[one.item_id]]["file"] for one in doubts[:8]]},
    under={"doubtful": [f"{one.tag}?" for one in doubts[:8]]},
)
plt.show()

# %%
# Who did what, and when:
archive.reject([(one.item_id, one.tag) for one in doubts[:3]], who="anna", why="does not show it")
for entry in archive.history:
    print(entry.who or "-", "|", entry.summary)
archive.close()
