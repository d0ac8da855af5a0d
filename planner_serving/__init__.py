"""Outline to plan: the planners, their prompt and grammar, and the engine behind them."""
