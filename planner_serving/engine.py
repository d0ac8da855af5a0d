"""vLLM's asynchronous engine as a `Completer`. No Ray, no network: a folder in, answers out."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from planner_serving import model_folder
from planner_serving.chat import Chat
from planner_serving.errors import (
    EngineDiedError,
    PlannerModelError,
    PlannerRefusedError,
    PlannerUnavailableError,
    PromptTooLongError,
    TerminalError,
    TransientError,
)
from planner_serving.ports import Completion, Prompt

#: What vLLM reads from the environment as it is imported: it asks no hub and tells nobody.
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
}


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """One engine and the model in it."""

    model: Path
    """Folder with configuration, tokenizer and safetensors."""
    gpus: float = 0
    """GPUs that the model is spread over, or the share of one that it takes; 0: this machine's
    processor, in float32."""
    context: int = 8192
    """Most tokens of prompt and answer together; a model that reads less sets less."""
    concurrency: int = 64
    """Prompts that are worked on at a time; others wait inside the engine."""
    seconds: float = 120.0
    """From a prompt's arrival to its answer, the wait for others included."""
    cpu_cache_bytes: int = 512 * 2**20
    """Keys and values kept on a processor. A GPU gives nine tenths of its memory."""
    prefix_caching: bool = True
    """Read what prompts begin alike only once."""


class VllmEngine:
    """A model in this process, and a loop of its own that serves it.

    Raises `PlannerModelError` where the model, its device or vLLM itself is not there.
    """

    def __init__(self, options: EngineOptions) -> None:
        os.environ.update(ENVIRONMENT)
        self._options = options
        self._context = _context(options)
        self.identity = model_folder.identity(options.model)
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="vllm", daemon=True).start()
        try:
            self._llm = self._wait(self._start())
        except BaseException:
            self._loop.call_soon_threadsafe(self._loop.stop)
            raise
        self._chat = Chat(self._llm.get_tokenizer())

    @property
    def alive(self) -> bool:
        """False once the engine's process has ended; nothing but a new engine helps then."""
        return not self._llm.errored

    def submit(self, prompts: Sequence[Prompt]) -> Future[list[Completion | Exception]]:
        """`complete`, to be waited for elsewhere."""
        return asyncio.run_coroutine_threadsafe(self._all(prompts), self._loop)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """One result for each prompt, in order; the engine works on many at a time."""
        return self.submit(prompts).result()

    def close(self) -> None:
        """End the engine's process; what is in flight ends with `EngineDiedError`."""
        self._wait(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _wait(self, job: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(job, self._loop).result()

    async def _start(self) -> Any:
        try:
            from vllm import AsyncEngineArgs
            from vllm.v1.engine.async_llm import AsyncLLM
        except ImportError as error:
            raise PlannerModelError(f"vLLM is not here ({error}): make install-vllm") from error
        try:
            return AsyncLLM.from_engine_args(AsyncEngineArgs(**_arguments(self._options)))
        except Exception as error:
            # vLLM raises whatever its parts do: the model's kind, its shapes, the memory.
            raise PlannerModelError(
                f"vLLM cannot load {self._options.model}: {_first_line(error)}"
            ) from error

    async def _stop(self) -> None:
        # In its own loop, so that what waits for the engine ends before the engine does.
        self._llm.shutdown()

    async def _all(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        return list(await asyncio.gather(*map(self._one, prompts)))

    async def _one(self, prompt: Prompt) -> Completion | Exception:
        try:
            async with asyncio.timeout(self._options.seconds):
                return await self._answer(prompt)
        except TimeoutError:
            return PlannerUnavailableError(
                f"the planner's model gave no answer within {self._options.seconds:g} s"
            )
        except (TransientError, TerminalError) as error:
            return error
        except Exception as error:  # of ours, or of the model's template: it costs one prompt
            return PlannerRefusedError(f"{type(error).__name__}: {_first_line(error)}")

    async def _answer(self, prompt: Prompt) -> Completion:
        from vllm.exceptions import VLLMClientError
        from vllm.inputs.engine import tokens_input
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        tokens = self._chat.tokens(prompt)
        if len(tokens) + prompt.max_tokens > self._context:
            raise PromptTooLongError(
                f"{len(tokens)} tokens and {prompt.max_tokens} of answer are over the "
                f"{self._context} that the planner's model is set to read"
            )
        try:
            stream = self._llm.generate(
                tokens_input(tokens), _sampling(prompt), f"plan-{next(self._numbers)}"
            )
            async for output in stream:
                answer = output.outputs[0]
        except EngineDeadError as error:
            raise EngineDiedError("the planner's engine ended while it had the page") from error
        except EngineGenerateError as error:
            raise PlannerUnavailableError(f"vLLM: {error.__cause__ or error}") from error
        except VLLMClientError as error:
            raise PlannerRefusedError(f"vLLM refused a prompt: {_first_line(error)}") from error
        return Completion(
            text=answer.text,
            input_tokens=len(tokens),
            cached_input_tokens=output.num_cached_tokens or 0,
            output_tokens=len(answer.token_ids),
            finished=answer.finish_reason == "stop",
        )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _context(options: EngineOptions) -> int:
    reads: int | None = model_folder.read_config(options.model).get("max_position_embeddings")
    return min(options.context, reads or options.context)


def _arguments(options: EngineOptions) -> dict[str, Any]:
    shared = {
        "model": str(options.model),
        "max_model_len": _context(options),
        "max_num_seqs": options.concurrency,
        "enable_prefix_caching": options.prefix_caching,
        "generation_config": "vllm",  # not the folder's: answers are greedy
        "structured_outputs_config": {"backend": "xgrammar"},
        "disable_log_stats": True,
        "seed": 0,
    }
    if options.gpus:
        _check_gpus(options.gpus)
        return {
            **shared,
            "tensor_parallel_size": ceil(options.gpus),
            "gpu_memory_utilization": 0.9 * min(options.gpus, 1),
        }
    # float32 reads prompts three to four times faster than bfloat16 on processors without
    # its instructions; compiling the model first costs more than tests and trials can win.
    return {
        **shared,
        "dtype": "float32",
        "enforce_eager": True,
        "kv_cache_memory_bytes": options.cpu_cache_bytes,
    }


def _check_gpus(wanted: float) -> None:
    import torch

    there = torch.cuda.device_count()
    if there < wanted:
        raise PlannerModelError(
            f"the planner is set to {wanted:g} GPU and {there} are here; planner_gpus = 0 runs it "
            "on the processor"
        )


def _sampling(prompt: Prompt) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    return SamplingParams(
        temperature=0.0,
        max_tokens=prompt.max_tokens,
        structured_outputs=StructuredOutputsParams(regex=prompt.regex),
        output_kind=RequestOutputKind.FINAL_ONLY,
    )
