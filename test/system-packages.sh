#!/usr/bin/env sh
# Brings the programs that some tests compare with or call. As root on Debian it installs what is missing; elsewhere it
# says which tests will be skipped. On CI (CI=true) a missing program is a failure.
set -u

missing=""
need() {
  command -v "$1" >/dev/null 2>&1 && return
  missing="$missing $2"
  printf 'missing: %s (Debian package %s): %s\n' "$1" "$2" "$3"
}
need nats-server nats-server "the bus is compared with it"
need turnutils_stunclient coturn "a second STUN client"
need openssl openssl "certificates for the TLS scenario"
need curl curl "the contract's requests are sent with it"
need nginx nginx-light "the page about reverse proxies is run on it"
need script bsdutils "prompts are answered on its pseudo-terminal"
need zsh zsh "completion is asked for in it"
need fish fish "completion is asked for in it"
need chromium chromium "the dashboard is used in it"
# The node: real WireGuard, firewalls and packets in network namespaces.
need wireguard-go wireguard-go "tunnels without a kernel module"
need wg wireguard-tools "tunnels are looked at with it"
need nft nftables "the node's firewall"
need ip iproute2 "network namespaces as hosts"
need ping iputils-ping "packets through tunnels"
need iperf3 iperf3 "throughput through tunnels"
need ethtool ethtool "links that join packets as network cards do"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  # shellcheck disable=SC2086 # a list of package names
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing && exit 0
fi
if [ "${CI:-}" = true ]; then
  echo "These packages could not be installed:$missing" >&2
  exit 1
fi
echo "Tests that need them are skipped."
