"""Stored page to document to checked plan to chunks. Pure: no network, no Ray, no clock."""
