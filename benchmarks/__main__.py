"""`python -m benchmarks`: the same as `liebn bench`."""

from __future__ import annotations

import argparse
import sys

from benchmarks import command


def main() -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=command.DESCRIPTION,
        epilog=command.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_options(parser)
    try:
        return command.run(parser.parse_args())
    except command.EXPECTED as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
