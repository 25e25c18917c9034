#!/usr/bin/env sh
# Brings the judges of test/npm-judges, which a checkout need not carry. On CI (CI=true) it is a failure when they cannot be had.
npm install --silent --no-audit --no-fund --prefix test/npm-judges && exit
echo "The judges of test/npm-judges could not be fetched by npm: the tests that ask them are skipped." >&2
[ "${CI:-}" != true ]
