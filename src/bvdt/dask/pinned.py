"""Tasks that stay where their shard is.

A shard's work is preferred at its own worker. Dask's work stealing would give some of it to a worker with
nothing to do, together with the shard's columns, megabytes for a task of milliseconds; this plugin of the
scheduler takes these tasks, and no others, off the list of what may be stolen. When a worker is lost they
still go elsewhere: also when it was the last one and others come later, which Dask alone would not see to,
because it offers a waiting task to a new worker only if that worker is the preferred one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distributed import SchedulerPlugin

if TYPE_CHECKING:
    from distributed import Scheduler

PREFIX = "bvdt_here"  # of the tasks' keys


class PinnedTasksPlugin(SchedulerPlugin):  # type: ignore[misc]  # Dask has no types here
    """Removes tasks of ``PREFIX`` from what may be stolen as soon as a worker has them, and frees those that
    find no worker at all."""

    name = "bvdt-staying"
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def transition(self, key: object, start: str, finish: str, *args: object, **more: object) -> None:
        if not str(key).startswith(PREFIX):
            return
        task = self._scheduler.tasks[key]
        if finish == "processing":
            stealing = self._scheduler.extensions.get("stealing")
            if stealing is not None:
                stealing.remove_key_from_stealable(task)
        elif finish == "no-worker":
            task.worker_restrictions = None
