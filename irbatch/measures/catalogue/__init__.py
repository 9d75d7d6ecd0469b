"""The measures: each one short formula and one declaration beside it, in the order of the list."""

# isort: off
from irbatch.measures.catalogue import binary  # noqa: F401 - each fills the catalogue
from irbatch.measures.catalogue import recall_points  # noqa: F401
from irbatch.measures.catalogue import incomplete  # noqa: F401
from irbatch.measures.catalogue import gain  # noqa: F401
from irbatch.measures.catalogue import persistence  # noqa: F401
from irbatch.measures.catalogue import stopping  # noqa: F401
from irbatch.measures.catalogue import blended  # noqa: F401
from irbatch.measures.catalogue import similarity  # noqa: F401
from irbatch.measures.catalogue import user_models  # noqa: F401
from irbatch.measures.catalogue import candidates  # noqa: F401
from irbatch.measures.catalogue import counts  # noqa: F401
from irbatch.measures.catalogue import diversity  # noqa: F401
from irbatch.measures.catalogue import sampled  # noqa: F401
from irbatch.measures.catalogue import items  # noqa: F401
from irbatch.measures.catalogue import fairness  # noqa: F401
from irbatch.measures.catalogue import propensities  # noqa: F401
