#!/usr/bin/env sh
# Brings a wireguard-go that hands on packets in batches, as those since 2023 do: some scenarios run with it too. Where the
# installed one does not, it is that of Debian's backports, fetched as root by apt-get, not installed, and kept for the next
# time. On CI (CI=true) it is a failure when it cannot be had.
set -u

target=node_modules/.cache/newer-wireguard-go
skip() {
  echo "$1: scenarios with a newer wireguard-go are skipped."
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

installed=$(wireguard-go --version 2>/dev/null | sed -n 's/^wireguard-go v0\.0\.\([0-9]*\).*/\1/p')
[ -x "$target/wireguard-go" ] && exit 0
[ -n "$installed" ] || skip "wireguard-go is missing, or tells its version in another form"
if [ "$installed" -ge 20230223 ]; then
  mkdir -p "$target" && ln -s "$(command -v wireguard-go)" "$target/wireguard-go"
  exit 0
fi
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || skip "It is fetched by apt-get as root"

# shellcheck source=/dev/null
. /etc/os-release
suite="$VERSION_CODENAME-backports"
kept="${XDG_CACHE_HOME:-$HOME/.cache}/mesh-tests/wireguard-go-$suite"
fetch() (
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" && chmod 755 . && mkdir -p lists/partial cache/archives/partial
  apt-get update -qq
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" | head -n 1)
  [ -n "$mirror" ] || return 1
  key=/usr/share/keyrings/debian-archive-keyring.gpg
  echo "deb [signed-by=$key] $mirror $suite main" >sources.list
  own="-o Dir::Etc::sourcelist=$work/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$work/lists -o Dir::Cache=$work/cache"
  # shellcheck disable=SC2086 # a list of options
  apt-get $own update -qq && apt-get $own -qq -o APT::Sandbox::User=root download "wireguard-go/$suite" || return 1
  dpkg-deb -x wireguard-go_*.deb . && mkdir -p "$(dirname "$kept")" && mv usr/bin/wireguard-go "$kept"
)
[ -x "$kept" ] || fetch || skip "$suite has none or cannot be reached"
mkdir -p "$target" && cp "$kept" "$target/wireguard-go"
