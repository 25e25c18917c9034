import { generateKeyPair } from '../../../net/seal/x25519.ts';
import { enrol } from '../plane/devices.ts';
import type { NodeIdentity } from './bus-node.ts';
import { type Harness, type HarnessOptions, startHarness } from './harness.ts';

const FREE_PORT = '127.0.0.1:0';
export const ALL_ON = { MESH_BUS_LISTEN: FREE_PORT, MESH_RELAY_LISTEN: FREE_PORT, MESH_STUN_LISTEN: FREE_PORT };

/** A control plane with everything on, and a workspace with an admin. */
export async function startWiredPlane(options: HarnessOptions = {}) {
  const harness = await startHarness({ ...options, env: { ...ALL_ON, ...options.env } });
  const { token, workspace } = await harness.workspace();
  const admin = { token, workspace };
  const { bus, relay, stun } = harness.plane.listeners;
  return {
    harness,
    admin,
    workspace,
    busPort: bus?.port ?? 0,
    relayPort: relay?.port ?? 0,
    stunPort: stun?.port ?? 0,
    join: (name: string) => join(harness, admin, name),
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}

/** Registers a node with a token of its own and a label of its name. */
export async function join(
  harness: Pick<Harness, 'api'>,
  admin: { token: string; workspace: string },
  name: string,
): Promise<NodeIdentity> {
  const made = await harness.api('POST', '/api/v1/token/generate', { ...admin, body: { name, labels: { name } } });
  const pair = generateKeyPair();
  const publicKey = Buffer.from(pair.publicKey).toString('base64');
  return { ...(await enrol(harness, made.body.token, name, { publicKey })), pair };
}

/** The relay credential in the node's graph. */
export async function relayCredential(harness: Pick<Harness, 'api'>, { deviceToken }: NodeIdentity): Promise<string> {
  const { body } = await harness.api('GET', '/api/v1/devices/self/graph', { token: deviceToken });
  return body.relay.credential;
}
