"""A transformer of pictures, such as a bag of visual words, as an extractor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import ParameterError
from .base import Extractor

__all__ = ["Transformed"]


class Transformed(Extractor):
    """Anything with ``fit`` and ``transform`` that takes pictures, under a name.

    ``extractor`` knows it too once it is announced: ``register_extractor("visual_words", lambda n_words=500:
    Transformed("visual_words", BagOfWords(n_words, random_state=0)))``. What it learned is its attributes that end with
    an underscore. Its ``n_jobs`` is set to the one of each call.
    """

    reads = "picture"
    learns = True

    def __init__(self, name: str, transformer: Any) -> None:
        self.name = name
        self.transformer = transformer

    @property
    def version(self) -> str:
        """The revision, the kind of transformer, and its settings."""
        settings = {**self.transformer.get_params(deep=False), "n_jobs": None, "verbose": None}
        shown = " ".join(f"{key}={value!r}" for key, value in sorted(settings.items()) if value is not None)
        return f"{self.revision} {type(self.transformer).__name__} {shown}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The transformer's own names."""
        self._learned()
        return tuple(map(str, self.transformer.get_feature_names_out()))

    def learn(self, items: Iterable[Any], *, n_jobs: int | None = None) -> None:
        """Fit the transformer."""
        self.transformer.set_params(n_jobs=n_jobs).fit(items)

    def extract(self, items: Iterable[Any], *, n_jobs: int | None = None) -> Any:
        """One row per picture, in the transformer's own form (dense or CSR), float32."""
        self._learned()
        return self.transformer.set_params(n_jobs=n_jobs).transform(items).astype("float32")

    def state(self) -> dict[str, Any]:
        """The fitted attributes."""
        return {key: value for key, value in self._fitted().items() if value is not None}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what ``state`` gave."""
        for key, value in state.items():
            if not key.endswith("_") or key.startswith("_"):
                raise ParameterError(f"the state of {self.name} holds {key!r}, which is no fitted attribute.")
            setattr(self.transformer, key, value)

    def _fitted(self) -> dict[str, Any]:
        return {key: v for key, v in vars(self.transformer).items() if key.endswith("_") and not key.startswith("_")}

    def _learned(self) -> None:
        if not self._fitted():
            raise ParameterError(
                f"{self.name} has learned nothing yet: call learn with the pictures, or restore, first."
            )
