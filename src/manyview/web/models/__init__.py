"""What the gallery's server says and takes, field by field; the pages' types are made from these.

One file for each subject; ``models.NAME`` finds them all.
"""

from .audit import *  # noqa: F403
from .base import *  # noqa: F403
from .clusters import *  # noqa: F403
from .comparing import *  # noqa: F403
from .decisions import *  # noqa: F403
from .edits import *  # noqa: F403
from .files import *  # noqa: F403
from .items import *  # noqa: F403
from .meaning import *  # noqa: F403
from .proposals import *  # noqa: F403
from .runs import *  # noqa: F403
