"""The benchmarks behind `wrac eval`: retrieval, tokens, extraction and formats.

Definitions, data folders and results are in `docs/evaluation.md`.
"""
