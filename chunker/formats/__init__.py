"""Readers: one module a format, each from a body to the same `Source`."""
