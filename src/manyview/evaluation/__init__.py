"""How good is it on MY data: experiments that hide what is known and look for it again."""

from __future__ import annotations

from ..data.hiding import hide_tags
from .calibration import calibration_error
from .experiment import TagExperiment, hidden_tags_experiment

__all__ = ["TagExperiment", "calibration_error", "hidden_tags_experiment", "hide_tags"]
