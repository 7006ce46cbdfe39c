#!/usr/bin/env bash
# lock.sh [--upgrade]: resolves pyproject.toml into requirements/*.lock, for every
# supported Python and system at once. UV names the uv to use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

resolve() {
  "${UV:-uv}" pip compile --quiet --universal --python-version 3.11 \
    --generate-hashes --no-annotate --custom-compile-command "make lock" \
    "${@:2}" --output-file "requirements/$1.lock" pyproject.toml
}

# The widest first: the others take their versions from it.
resolve dev --extra dev --no-emit-package torch "$@"
resolve demo --extra demo --extra build --constraint requirements/dev.lock
resolve run --constraint requirements/dev.lock
