"""The paper's experiments, section 4: Figures 1 and 2, Table 2, and its claims beside what was measured."""

from .config import FULL, QUICK, Config
from .run import Outcome, reproduce

__all__ = ["FULL", "QUICK", "Config", "Outcome", "reproduce"]
