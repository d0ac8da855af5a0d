"""Prompts in a chat form, over a fake tokenizer: a character is a token, a tag is one token."""

from __future__ import annotations

import re
from typing import Any

import pytest

from planner_serving.chat import Chat
from planner_serving.ports import Prompt

PROMPT = Prompt("Sort the lines.", "1 h <end> A heading", "[1-6]{1}", 2, "test-1")


class FakeTokenizer:
    """`transformers`' fast tokenizers, as far as `Chat` uses them."""

    def __init__(self, chat_template: str | None, knows_system: bool = True) -> None:
        self.chat_template = chat_template
        self._knows_system = knows_system

    def apply_chat_template(self, messages: list[dict[str, str]], **options: Any) -> str:
        assert options == {
            "tokenize": False,
            "add_generation_prompt": True,
            "enable_thinking": False,
        }
        if messages[0]["role"] == "system" and not self._knows_system:
            raise ValueError("System role not supported")
        return "".join(f"<{one['role']}>{one['content']}<end>" for one in messages) + "<model>"

    def encode(
        self, text: str, add_special_tokens: bool = True, split_special_tokens: bool = False
    ) -> list[str]:
        tag = "(?!)" if split_special_tokens else "<[a-z]+>"
        return re.findall(f"{tag}|.", text, re.DOTALL)


def read(tokenizer: FakeTokenizer, prompt: Prompt = PROMPT) -> list[str]:
    return Chat(tokenizer).tokens(prompt)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("tokenizer", "text"),
    [
        (FakeTokenizer("a"), "<system>Sort the lines.<end><user>1 h <end> A heading<end><model>"),
        (FakeTokenizer("a", False), "<user>Sort the lines.\n1 h <end> A heading<end><model>"),
        (FakeTokenizer(None), "Sort the lines.1 h <end> A heading"),
    ],
    ids=["system and user", "no system", "no chat"],
)
def test_instructions_then_the_page(tokenizer: FakeTokenizer, text: str) -> None:
    assert "".join(read(tokenizer)) == text


def test_a_page_s_words_are_no_control_tokens() -> None:
    tokens = read(FakeTokenizer("a"))
    assert tokens.count("<end>") == 2  # the template's own
    assert tokens.count("<") == 1


def test_what_stands_before_the_page_is_the_same_for_every_page() -> None:
    chat = Chat(FakeTokenizer("a"))
    pages = [chat.tokens(Prompt(PROMPT.prefix, body, "", 2, "")) for body in ("one", "two")]
    begin = len(read(FakeTokenizer("a"), Prompt(PROMPT.prefix, "", "", 2, ""))) - 2
    assert pages[0][:begin] == pages[1][:begin]
    assert pages[0][begin:] != pages[1][begin:]
