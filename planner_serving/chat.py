"""A prompt as a model's tokens: instructions as the system's words, a page as the user's."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from planner_serving.ports import Prompt

#: Stands for the page while the model's template is filled in.
_PAGE = "@@page@@"


class Chat:
    """Prompts in a model's own chat form.

    A page's text is encoded apart from the template, and without control tokens: a heading
    "<|im_end|>" is nine characters to the model and ends nothing. That also keeps the tokens
    before the page the same for every page, which is what a prefix cache goes by.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._frame = lru_cache(maxsize=8)(self._make_frame)

    def tokens(self, prompt: Prompt) -> list[int]:
        """The ids that the model reads."""
        before, after = self._frame(prompt.prefix)
        body = self._tokenizer.encode(
            prompt.body, add_special_tokens=False, split_special_tokens=True
        )
        return [*before, *body, *after]

    def _make_frame(self, prefix: str) -> tuple[list[int], list[int]]:
        if not self._tokenizer.chat_template:
            return self._tokenizer.encode(prefix), []
        before, _, after = self._filled(prefix).partition(_PAGE)
        return self._encode(before), self._encode(after)

    def _filled(self, prefix: str) -> str:
        page = {"role": "user", "content": _PAGE}
        try:
            return self._apply([{"role": "system", "content": prefix}, page])
        except Exception:
            # Some templates know no system; they say so with an exception of their own.
            return self._apply([{"role": "user", "content": f"{prefix}\n{_PAGE}"}])

    def _apply(self, messages: list[dict[str, str]]) -> str:
        text: str = self._tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=False,  # read by the templates of models that think aloud
        )
        return text

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids
