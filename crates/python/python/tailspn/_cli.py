"""The command ``tailspn``."""

import signal
import sys

from tailspn._tailspn import cli


def main() -> int:
    """Run the command that the arguments of the process give, and return its exit code."""
    # the command handles Ctrl-C and closed pipes itself
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return cli(["tailspn", *sys.argv[1:]])
