"""The implementation, a second witness of the same spec. It arrives with a later release."""
