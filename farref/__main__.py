"""`farref` and `python -m farref`."""

from farref.cli import cli


def main() -> None:
    """Run the command line."""
    cli(prog_name="farref")


if __name__ == "__main__":
    main()
