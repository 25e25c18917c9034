import path from 'node:path';
import { apiOf, configure, freshWorkspace } from '../../test/kits/http/harness.ts';
import { joinTokenFor } from '../../test/kits/http/joining.ts';
import { freshDirectory, startMeshd } from '../../test/kits/process/meshd.ts';
import { freePorts } from '../../test/kits/servers/free-port.ts';

/** Labels of the nodes of one program, which see the other nodes and not each other: `APART` is the policy for that. */
export const PROGRAM = { role: 'program' };
const programs = { peerSelector: { matchLabels: PROGRAM } };
export const APART = {
  name: 'apart',
  spec: {
    network: 'default',
    action: 'DENY',
    ...programs,
    ingress: [{ from: [programs] }],
    egress: [{ to: [programs] }],
  },
};

/** A control plane in a process of its own, on this machine. */
export async function startProgramsPlane(count: number) {
  const directory = freshDirectory();
  configure(directory);
  const [bus, relay, stun] = (await freePorts(3)).map((port) => `127.0.0.1:${port}`);
  const env = {
    MESH_BUS_LISTEN: `${bus}`,
    MESH_RELAY_LISTEN: `${relay}`,
    MESH_STUN_LISTEN: `${stun}`,
    MESH_SIGNALING_URL: `nats://${bus}`,
    MESH_RELAY_ADVERTISE_URL: `${relay}`,
    MESH_STUN_URL: `${stun}`,
  };
  const meshd = startMeshd({ directory, env, command: [path.resolve('bin/meshd'), '--standalone'] });
  const server = await meshd.ready();
  const api = apiOf(server);
  const admin = await freshWorkspace(api, 'programs', 2 * count);
  await api('POST', '/api/v1/policies', { ...admin, body: APART });
  const token = await joinTokenFor({ api }, admin, { usageLimit: count, labels: PROGRAM });
  const first = await joinTokenFor({ api }, admin, { name: 'first' });
  return { server, token, first, stop: () => meshd.stop() };
}
