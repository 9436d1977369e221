"""For photographers: from a folder to groups, tags and sidecars

228 photographs in a folder, half of them with keywords. The same as `manyview demo`, call by call: group them, name the
groups, propose what is missing, and write what was accepted to where Lightroom, digiKam and others find it.
"""

# %%
# A collection is a folder beside your pictures. The pictures themselves are read and never changed.
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
from drawing import rows_of_pictures

from manyview import Collection
from manyview.datasets import unpack_photographs
from manyview.workflow.proposing.suggest import open_proposals

place = Path("demo-output") / "photographer"
shutil.rmtree(place, ignore_errors=True)
unpack_photographs(place)
holiday = Collection.create(place / "holiday.manyview", place / "photographs")
print(holiday.last_report)

# %%
# Group them by what they show and by their keywords. The number of groups is found.
run = holiday.fit()
print(run.figures["number"]["reason"])
ids, where = holiday.runs.assignment()
files = {item.id: place / "photographs" / item.key for item in holiday.items}
shown = {}
for cluster in holiday.runs.clusters(run.id):
    members = ids[where == cluster.id].tolist()
    shown[f"{cluster.name} ({len(members)})"] = [files[item] for item in members[:8]]
rows_of_pictures(shown)
plt.show()

# %%
# Which keywords are missing? Every proposal has a probability and a reason.
holiday.suggest()
for one in open_proposals(holiday)[:5]:
    print(f"{one.probability:.0%}  {files[one.item_id].stem}: {one.reason['sentence']}")

# %%
# Say yes to all that are at least 90 % likely, and look at what would be written. Nothing is, before you say so.
entry = holiday.accept(min_probability=0.9)
print(entry.summary)
would = holiday.apply(dry_run=True)
print(len(would.changes), "sidecars would be written, for example", Path(would.changes[0].path).name)

# %%
# Sidecars beside the pictures, and all of it taken back again.
written = holiday.apply()
sidecars = sorted((place / "photographs").glob("*.xmp"))
print(len(sidecars), "sidecars, for example", sidecars[0].name)
print(holiday.undo().summary)
print(len(list((place / "photographs").glob("*.xmp"))), "sidecars are left")
holiday.close()
