#!/usr/bin/env sh
# What takes too long for each time: npm run test:long. As root on Debian, and it takes hours. MESH_LONG=1 makes tests do more,
# and adds the files that vitest.config.ts leaves out otherwise.
set -eu

sh test/system-packages.sh lab && sh test/systemd-resolved.sh
MESH_LONG=1 vitest run --project lab
MESH_LONG=1 vitest run --project unit .property client/firewall/userspace/verdicts test/authorisation.test
MESH_LONG=1 vitest run --project scenario outage test/faults

sh test/system-packages.sh web
MESH_LONG=1 vitest run --project web every-page failed-reads

sh test/system-packages.sh servers && sh test/mongod.sh && sh test/npm-judges.sh && sh test/keycloak.sh
MESH_LONG=1 vitest run --project servers scenarios/sign-in-keycloak
MESH_LONG=1 vitest run --project servers regular-expressions
# Four machines boot at once: alone, for they wait for what others hold of the host.
MESH_LONG=1 vitest run --project servers scenarios/deploy-page
MESH_LONG=1 vitest run --project servers test/faults scenarios/histories scenarios/partition scenarios/step-downs \
  scenarios/versions-of-planes scenarios/pages on-mongodb on-three-planes planes-end relays-on-planes nodes-on-planes \
  pair-on-planes approvals-on-planes limits-on-planes races-on-planes first-tasks-on-planes
