"""One walk over points in many places: shards with a tree of their own under one top tree."""

from .columns import Columns
from .executors import Donated, Executor, LocalExecutor, Source
from .operator import ShardedOperator, build_operator

__all__ = ["Columns", "Donated", "Executor", "LocalExecutor", "ShardedOperator", "Source", "build_operator"]
