#!/usr/bin/env sh
# in-systemd.sh NAMESPACE DIRECTORY: boots systemd in a container that sees this machine's files and changes none of them, in a
# network namespace. DIRECTORY is /root/trial there: trial.sh in it is run, and what it said printed.
set -eu
namespace=$1
shared=$2
work=$(mktemp -d)
trap 'umount "$work/root" "$work" 2>/dev/null; rmdir "$work"' EXIT
mount -t tmpfs none "$work"
mkdir "$work/changes" "$work/scratch" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/changes,workdir=$work/scratch" "$work/root"
cp "/etc/netns/$namespace/hosts" "$work/root/etc/hosts"
rm -rf "$work/root/etc/systemd/system/"*.wants "$work/root/run" && mkdir "$work/root/run"
cat >"$work/root/etc/systemd/system/trial.service" <<X
[Unit]
Description=What is tried
After=basic.target dbus.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'exec /bin/sh /root/trial/trial.sh >/root/trial/said 2>&1'
ExecStopPost=/bin/systemctl --no-block poweroff
[Install]
WantedBy=basic.target
X
mkdir -p "$work/root/etc/systemd/system/basic.target.wants"
ln -s ../trial.service "$work/root/etc/systemd/system/basic.target.wants/trial.service"
timeout 60 systemd-nspawn -q -D "$work/root" --register=no --keep-unit --network-namespace-path="/run/netns/$namespace" \
  --capability=CAP_NET_ADMIN,CAP_NET_RAW --bind=/dev/net/tun --bind="$shared:/root/trial" --machine="$namespace" --boot systemd.unit=basic.target >"$shared/console" 2>&1 || true
cat "$shared/said"
