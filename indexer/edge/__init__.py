"""Qdrant Edge, the embedded engine: one shard a slot, one process that holds them all."""
