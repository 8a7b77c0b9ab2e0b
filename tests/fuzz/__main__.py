"""``python -m fuzz``: a run of so many seconds, the repetition of a session, or the child of either.

python -m fuzz run [--seconds S] [--inputs N] [--json FILE] [TARGET …]
python -m fuzz repeat TARGET SEED
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

MEMORY = (
    6 * 2**30
)  # bytes of address space for a child: what asks for more is told so, and no other program suffers


def targets() -> dict[str, object]:
    """By name; imported here, since the parent needs none of them."""
    from fuzz.arguments import ARGUMENTS
    from fuzz.csr import CSR
    from fuzz.kernels import KERNELS
    from fuzz.models import MODELS
    from fuzz.readers import READERS

    return {target.name: target for target in (MODELS, CSR, READERS, ARGUMENTS, KERNELS)}


NAMES = ("models", "csr", "readers", "arguments", "kernels")


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # the sanitizer maps terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="attack the targets in turn")
    run.add_argument(
        "target", nargs="*", default=[], help=f"of {', '.join(NAMES)}; all of them without a name"
    )
    run.add_argument("--seconds", type=float, default=3600.0, help="for all of it (3600)")
    run.add_argument("--inputs", type=int, help="per target, then it is enough")
    run.add_argument("--json", help="file for the counts and the findings")
    again = commands.add_parser("repeat", help="a session once more, its first failure made small")
    again.add_argument("target", choices=NAMES)
    again.add_argument("seed", type=int)
    child = commands.add_parser("child", help="what a run starts")
    child.add_argument("target", choices=NAMES)
    return parser


def main() -> int:
    from fuzz.engine import Campaign, fresh_seeds, repeat, work

    options = _parser().parse_args()
    if options.command == "run":
        unknown = set(options.target) - set(NAMES)
        if unknown:
            print(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
            return 2
        counts = Campaign(options.target or NAMES, options.seconds, inputs=options.inputs).run()
        print(counts.table())
        if options.json:
            findings = [vars(finding) for finding in counts.findings]
            with open(options.json, "w") as file:
                json.dump({"counts": counts.by_target, "findings": findings}, file, indent=1)
        return 1 if counts.findings else 0
    warnings.simplefilter("ignore")
    _limit_memory()
    target = targets()[options.target]
    if options.command == "repeat":
        repeat(target, options.seed)
        print("nothing failed")
        return 0
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not come between
    work(target, fresh_seeds(), out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
