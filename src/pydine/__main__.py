"""``python -m pydine``: the command line."""

from pydine.cli.app import main

if __name__ == "__main__":
    main()
