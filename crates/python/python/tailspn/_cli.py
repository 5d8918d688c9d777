"""The command ``tailspn``."""

import signal
import sys

from tailspn._tailspn import cli


def main() -> int:
    """Run the command that the process was started with, and return its exit code."""
    # the command handles Ctrl-C and closed pipes itself
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return cli(["tailspn", *sys.argv[1:]])
