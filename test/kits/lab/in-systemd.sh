#!/usr/bin/env sh
# in-systemd.sh NAMESPACE DIRECTORY [SECONDS]: boots systemd in a container that sees this machine's files and changes none of
# them, in a network namespace. DIRECTORY is /root/trial there. Where trial.sh is in it, that is run, and what it said printed;
# else the machine stays until it is ended, or its seconds are over.
set -eu
namespace=$1
shared=$2
work=$(mktemp -d)
groups=
# In control groups of its own: systemd would take the services of another such machine for its own.
for root in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
  [ -w "$root/cgroup.procs" ] || continue
  mkdir -p "$root/$namespace" && echo $$ >"$root/$namespace/cgroup.procs" && groups="$groups $root"
done
leave() {
  umount "$work/root" "$work" 2>/dev/null
  rmdir "$work"
  for root in $groups; do
    echo $$ >"$root/cgroup.procs" && find "$root/$namespace" -depth -type d -exec rmdir {} + 2>/dev/null
  done
}
trap leave EXIT
mount -t tmpfs none "$work"
mkdir "$work/changes" "$work/scratch" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/changes,workdir=$work/scratch" "$work/root"
cp "/etc/netns/$namespace/hosts" "$work/root/etc/hosts"
rm -rf "$work/root/etc/systemd/system/"*.wants "$work/root/run" && mkdir "$work/root/run"
if [ -e "$shared/trial.sh" ]; then
  units=$work/root/etc/systemd/system
  cat >"$units/trial.service" <<X
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
  mkdir -p "$units/basic.target.wants"
  ln -s ../trial.service "$units/basic.target.wants/trial.service"
fi
timeout "${3:-60}" systemd-nspawn -q -D "$work/root" --register=no --keep-unit --network-namespace-path="/run/netns/$namespace" \
  --capability=CAP_NET_ADMIN,CAP_NET_RAW --system-call-filter=@memlock --bind=/dev/net/tun --bind="$shared:/root/trial" --machine="$namespace" --boot systemd.unit=basic.target >"$shared/console" 2>&1 || true
[ ! -e "$shared/said" ] || cat "$shared/said"
