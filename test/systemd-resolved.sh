#!/usr/bin/env sh
# Brings a systemd-resolved, which the tests of names run in a namespace of their own: the package of this Debian, fetched as
# root by apt-get and unpacked, not installed, since installing it takes over the names of the machine. Elsewhere, and where
# it cannot be had, those tests are skipped; on CI (CI=true) that is a failure.
set -u

target=$PWD/node_modules/.cache/systemd-resolved
[ -x "$target/lib/systemd/systemd-resolved" ] && exit 0
skip() {
  echo "$1: tests with systemd-resolved are skipped."
  [ "${CI:-}" = true ] && exit 1
  exit 0
}
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || skip "It is fetched by apt-get as root"
command -v dbus-daemon >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends dbus-daemon || skip "dbus-daemon is missing"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && chmod 755 "$work" && cd "$work" || exit 1
apt-get -qq -o APT::Sandbox::User=root download systemd-resolved || skip "This system has no such package"
mkdir -p "$target" && dpkg-deb -x systemd-resolved_*.deb "$target"
