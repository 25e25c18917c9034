# Starts $name, mesh or meshd, with the Node 24 that npm install brought, whatever the system's own version is.
here=$(dirname "$(readlink -f "$0")")
main=$here/$name.ts
# An installed package brings it compiled: Node runs no TypeScript below node_modules.
[ -f "$main" ] || main=$here/../dist/bin/$name.js
node=$here/../node_modules/.bin/node
[ -x "$node" ] || node=$here/../../.bin/node
[ -x "$node" ] || { echo "$name: run npm install in $(dirname "$here") first" >&2; exit 1; }
# What was compiled is kept for the next start (docs/platform.md). Never where another user could write what root then runs.
if [ -z "$NODE_COMPILE_CACHE" ]; then
  if [ "$(id -u)" = 0 ]; then NODE_COMPILE_CACHE=/var/cache/mesh; else NODE_COMPILE_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/mesh; fi
  [ -d "$NODE_COMPILE_CACHE" ] || (umask 077 && mkdir -p "$NODE_COMPILE_CACHE") 2>/dev/null
  export NODE_COMPILE_CACHE
fi
# SIGUSR1 would open a debugger, to every user of this machine.
exec "$node" --disable-sigusr1 --disable-warning=ExperimentalWarning ${option:+"$option"} "$main" "$@"
