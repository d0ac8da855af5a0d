"""Chunks to Qdrant: embed, upsert, delete, search."""
