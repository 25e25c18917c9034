# Starts $name, mesh or meshd: in a checkout with the Node 24 that npm install brought, else with that of the machine.
here=$(dirname "$(readlink -f "$0")")
main=$here/$name.ts
if [ -f "$main" ]; then
  node=$here/../node_modules/.bin/node
  [ -x "$node" ] || { echo "$name: run npm install in $(dirname "$here") first" >&2; exit 1; }
else
  # An installed package brings it compiled: Node runs no TypeScript below node_modules.
  main=$here/../dist/bin/$name.js
  node=node
  # Services and MCP clients have a shorter PATH: npm install -g puts the package beside the Node that ran it.
  case $here in */lib/node_modules/*/bin) [ ! -x "${here%/lib/node_modules/*}/bin/node" ] || node=${here%/lib/node_modules/*}/bin/node ;; esac
  version=$("$node" --version 2>/dev/null)
  case $version in
  v2[4-9].* | v[3-9][0-9].*) ;;
  *) echo "$name: needs Node 24 or newer on PATH, and found ${version:-none}: https://nodejs.org/en/download" >&2; exit 1 ;;
  esac
fi
# What was compiled is kept for the next start (docs/platform.md). Never where another user could write what root then runs.
if [ -z "$NODE_COMPILE_CACHE" ]; then
  if [ "$(id -u)" = 0 ]; then NODE_COMPILE_CACHE=/var/cache/mesh; else NODE_COMPILE_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/mesh; fi
  [ -d "$NODE_COMPILE_CACHE" ] || (umask 077 && mkdir -p "$NODE_COMPILE_CACHE") 2>/dev/null
  export NODE_COMPILE_CACHE
fi
# SIGUSR1 would open a debugger, to every user of this machine.
exec "$node" --disable-sigusr1 --disable-warning=ExperimentalWarning ${option:+"$option"} "$main" "$@"
