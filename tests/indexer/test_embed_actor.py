"""The embedder behind Ray gives what it gives without; its errors come back as values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import ray

from indexer.actor import EmbedActor
from indexer.embedders import open_embedder
from indexer.errors import EmbedderUnavailableError


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def test_an_actor_embeds_as_the_class_does(cluster: None) -> None:
    texts = ["How do I change a tyre?", "Replacing a flat wheel"]
    actor = EmbedActor.remote("minilm", 1)
    vectors = ray.get(actor.embed.remote(texts))
    assert vectors.tobytes() == open_embedder("minilm", 1).embed(texts).tobytes()


def test_errors_survive_the_way_between_processes() -> None:
    error = ray.cloudpickle.loads(ray.cloudpickle.dumps(EmbedderUnavailableError("busy")))
    assert isinstance(error, EmbedderUnavailableError)
    assert str(error) == "busy"
