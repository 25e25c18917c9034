#!/bin/sh
# Builds netstack.wasm.br and its digest: the same bytes wherever the Go of go.mod's toolchain runs. With --native: a program of
# this platform beside it, which MESH_NETSTACK=native takes.
set -eu
cd "$(dirname "$0")"
export GOTOOLCHAIN="$(sed -n 's/^toolchain //p' go.mod)" CGO_ENABLED=0 GOFLAGS=-mod=readonly
out=${MESH_NETSTACK_OUT:-.}
build() {
  file=$1
  shift
  env "$@" go build -trimpath -buildvcs=false -ldflags '-s -w -buildid=' -o "$out/$file" .
}
if [ "${1:-}" = --native ]; then
  build "netstack-$(node -p 'process.platform + "-" + process.arch')"
  exit
fi
build netstack.wasm GOOS=js GOARCH=wasm
cp "$(go env GOROOT)/lib/wasm/wasm_exec.js" "$out/wasm_exec.js"
chmod 644 "$out/wasm_exec.js"
node -e '
const { readFileSync, writeFileSync, rmSync } = require("node:fs");
const { brotliCompressSync, constants } = require("node:zlib");
const { createHash } = require("node:crypto");
const [out] = process.argv.slice(1);
const wasm = readFileSync(`${out}/netstack.wasm`);
const params = { [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length, [constants.BROTLI_PARAM_LGWIN]: 24 };
writeFileSync(`${out}/netstack.wasm.br`, brotliCompressSync(wasm, { params }));
writeFileSync(`${out}/netstack.wasm.sha256`, `${createHash("sha256").update(wasm).digest("hex")}  netstack.wasm\n`);
rmSync(`${out}/netstack.wasm`);
' "$out"
