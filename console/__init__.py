"""Web console and HTTP API."""
