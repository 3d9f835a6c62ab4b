"""The program: python3 -m linkwork run four_bar."""

import signal
import sys

from . import _core


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the program has handlers of its own
    return _core.program(["linkwork", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
