#!/bin/sh
# Debian's redis-server, for the tests of the shared caches: installed where that is possible. vLLM is
# large, and installed where it is asked for.
set -u
[ -e .venv-vllm/bin/python ] || \
    echo "tests: vLLM is not here (make install-vllm); its tests are skipped by name"
command -v redis-server >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "tests: installing Debian's redis-server (for the tests of the shared caches)"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server; } \
        >/dev/null 2>&1 && exit 0
fi
echo "tests: redis-server is not here and cannot be installed; its tests are skipped by name"
exit 0
