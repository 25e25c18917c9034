#!/usr/bin/env sh
# with-resolved.sh PACKAGE COMMAND…: runs a command on a host that resolves by systemd-resolved, as Debian and Ubuntu do. In a
# mount namespace of its own (unshare -m), with a /run and an /etc that go with it.
set -eu
package=$1
shift
mount -t tmpfs none /run
mkdir -p /run/dbus /run/systemd/resolve /run/lock
cp -a /etc /run/etc
umount /etc/resolv.conf 2>/dev/null || true
ln -sf /run/systemd/resolve/stub-resolv.conf /run/etc/resolv.conf
grep -q ^systemd-resolve: /run/etc/passwd || {
  echo 'systemd-resolve:x:997:997::/:/usr/sbin/nologin' >>/run/etc/passwd
  echo 'systemd-resolve:x:997:' >>/run/etc/group
}
chown systemd-resolve: /run/systemd/resolve 2>/dev/null || chown 997:997 /run/systemd/resolve
mount --bind /run/etc /etc
cat >/run/bus.conf <<X
<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>
X
bus=$(dbus-daemon --config-file=/run/bus.conf --fork --print-pid --nopidfile 2>/dev/null)
"$package/lib/systemd/systemd-resolved" >/run/resolved.log 2>&1 &
resolved=$!
PATH=$package/usr/bin:$PATH
export PATH
until resolvectl dns >/dev/null 2>&1; do kill -0 "$resolved"; done
code=0
"$@" || code=$?
kill "$resolved" "$bus"
exit "$code"
