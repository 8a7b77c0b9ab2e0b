"""One walk over points in many places: shards with a tree of their own under one top tree."""

from .columns import Columns
from .executors import Executor, LocalExecutor, Source, Spent
from .operator import ShardedOperator, build_operator

__all__ = ["Columns", "Executor", "LocalExecutor", "ShardedOperator", "Source", "Spent", "build_operator"]
