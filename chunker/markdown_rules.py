"""The Markdown parser that units are found with: block rules only, and tables in linear time."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as gfm_table

#: Blocks nested deeper than this are text of the block that holds them.
_DEEPEST = 100


@cache
def markdown_parser() -> MarkdownIt:
    """CommonMark with GFM tables, without the inside of lines."""
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def _table(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """A GFM table as one token: its cells are of no use here, and a table may have a million.

    Where a table begins is markdown-it's own rule; it ends as there, at an empty line or at the
    beginning of another block.
    """
    if not gfm_table(state, first, end, True):
        return False
    if silent:
        return True
    token = state.push("table_open", "table", 1)
    line = first + 2
    while line < end and not _ends(state, line, end):
        line += 1
    token.map = [first, line]
    state.push("table_close", "table", -1)
    state.line = line
    return True


def _ends(state: StateBlock, line: int, end: int) -> bool:
    if state.sCount[line] < state.blkIndent or state.isEmpty(line) or state.is_code_block(line):
        return True
    if state.src[state.bMarks[line] + state.tShift[line]] == "|":
        return False  # a row as most are written: no other block begins so
    return any(rule(state, line, end, True) for rule in state.md.block.ruler.getRules("blockquote"))
