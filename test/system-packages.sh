#!/usr/bin/env sh
# Brings the programs that the tests of a tier call: lab, web or servers; or that pictures are made with: screens. As root on Debian it installs what is missing;
# elsewhere it says in one line what is not there, and the tests that need it are skipped. On CI (CI=true) that is a failure.
set -u

missing=""
lacking=""
need() {
  command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

case "${1:-}" in
lab) # Real WireGuard, firewalls and packets in network namespaces.
  need wireguard-go wireguard-go
  need wg wireguard-tools
  need nft nftables
  need ip iproute2
  need ping iputils-ping
  need iperf3 iperf3
  need ethtool ethtool
  need dig bind9-dnsutils
  need faketime faketime
  need iptables-nft iptables
  need iptables-nft-restore iptables
  need iptables-legacy-restore iptables
  need iptables-legacy iptables
  need ufw ufw
  need systemd-nspawn systemd-container
  [ "$(id -u)" = 0 ] || lacking="$lacking root"
  [ -e /dev/net/tun ] || lacking="$lacking /dev/net/tun"
  ;;
web) # The dashboard is used in it.
  need chromium-headless-shell chromium-headless-shell
  ;;
screens) # The dashboard is drawn in the one, and its moving picture made by the other.
  need chromium-headless-shell chromium-headless-shell
  need img2webp webp
  ;;
servers) # Compared with, put in front, spoken to by, typed into.
  need nats-server nats-server
  need turnutils_stunclient coturn
  need nginx nginx-light
  need haproxy haproxy
  need caddy caddy
  need curl curl
  need ssh openssh-client
  need ssh-keygen openssh-client
  need openssl openssl
  need unzip unzip
  need systemd-analyze systemd
  need setpriv util-linux
  need script bsdutils
  need zsh zsh
  need fish fish
  need go golang-go
  need oathtool oathtool
  need faketime faketime
  need promtool prometheus
  need nft nftables
  need ip iproute2
  need ss iproute2
  need ping iputils-ping
  need wireguard-go wireguard-go
  need wg wireguard-tools
  need bash bash
  need python3 python3
  need chromium-headless-shell chromium-headless-shell
  # Debian's python3 is without what makes an environment.
  python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing python3-venv"
  ;;
*)
  echo "usage: $0 lab|web|screens|servers" >&2
  exit 2
  ;;
esac

if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  # shellcheck disable=SC2086 # a list of package names
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing && missing=""
fi
[ -n "$missing$lacking" ] || exit 0
echo "Not here:$missing$lacking. Tests of test:$1 that need that are skipped." >&2
[ "${CI:-}" != true ]
