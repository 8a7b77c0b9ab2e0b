"""``python -m bvdt`` is the ``bvdt`` command."""

from .cli import main

main()
