"""Whose word is taken for a site's name: the authorities of the machine, or those of Mozilla."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import certifi


def find_authorities() -> None:
    """Points OpenSSL to certifi's list where neither the machine nor the user has one.

    A slim system comes without `ca-certificates`; without any authority every https site fails.
    To be called before the first connection of the process.
    """
    paths = ssl.get_default_verify_paths()
    has_folder = paths.capath is not None and any(Path(paths.capath).iterdir())
    if paths.cafile is None and not has_folder:
        os.environ.setdefault(paths.openssl_cafile_env, certifi.where())
