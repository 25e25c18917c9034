#!/usr/bin/env sh
# Brings Keycloak from Maven Central for the long tests, named by its hash and kept for the next time. It needs Java 17 or
# later and Maven. It is for tests alone and no part of Mesh.
set -u

version=26.7.3
kept="${XDG_CACHE_HOME:-$HOME/.cache}/mesh-tests/keycloak-$version"
target=node_modules/.cache/keycloak
sum=77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47
skip() {
  echo "$1: the tests with Keycloak are skipped." >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

fetch() (
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
  mvn -q -B dependency:copy -Dartifact="org.keycloak:keycloak-quarkus-dist:$version:tar.gz" -DoutputDirectory="$work" >&2 || return 1
  echo "$sum  $work/keycloak-quarkus-dist-$version.tar.gz" | sha256sum --check --quiet >&2 || return 1
  mkdir -p "$kept" && tar -xzf "$work/keycloak-quarkus-dist-$version.tar.gz" -C "$kept" --strip-components 1
)

command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1 || skip "Java and Maven are not there"
[ -x "$kept/bin/kc.sh" ] || fetch || skip "Keycloak could not be fetched by mvn"
mkdir -p node_modules/.cache && ln -sfn "$kept" "$target"
