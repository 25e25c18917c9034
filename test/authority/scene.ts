import type { Scope } from '../../core/base/scope.ts';
import { enrol } from '../kits/plane/devices.ts';
import { buildIdentityKit } from '../kits/plane/identity-kit.ts';
import { seedPeers } from '../kits/records/seed-peers.ts';

/** Who may reach whom in the scene: nothing, until a policy says so. */
const BASE = { action: 'DENY', peerSelector: {} };

export const only = (role: string) => ({ matchLabels: { role } });
export const reachOf = (role: string, port?: number) => [
  { to: [{ peerSelector: only(role) }], ...(port !== undefined && { ports: [{ protocol: 'TCP', port }] }) },
];

/**
 * A closed workspace with web, db and a secret; two people who may approve, by their sessions; agents by their tokens, so
 * that each call goes the way a request goes.
 */
export async function buildScene(settings: Record<string, unknown> = {}) {
  const kit = await buildIdentityKit();
  const workspace = await kit.workspace('prod');
  await seedPeers(kit.services, workspace, {
    'web-1': { role: 'web' },
    'db-1': { role: 'db' },
    'secret-1': { role: 'secret' },
  });
  const root = await kit.admin();
  const ada = await kit.person('ada', 'admin', workspace);
  const grace = await kit.person('grace', 'admin', workspace);
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
  const call = (bearer: string, name: string, raw: Record<string, unknown> = {}): Promise<any> =>
    kit.call({ name }, raw, { bearer, workspace });
  await call(ada, 'create_policy', { name: 'base', spec: BASE });
  if (Object.keys(settings).length > 0) await kit.haveSettings(workspace, settings);

  return {
    kit,
    workspace,
    admin: root,
    ada,
    grace,
    call,

    /** A root agent that ada makes. */
    async agent(name: string, scopes: readonly Scope[], more: Record<string, unknown> = {}) {
      const { id, token } = await call(ada, 'create_agent', { name, scopes, ...more });
      return { id: String(id), token: String(token) };
    },

    /** A sub-agent that has enrolled. */
    async child(parent: string, name: string, scopes: readonly Scope[], more: Record<string, unknown> = {}) {
      const asked = { id: 'self', subAgentName: name, ttl: '30m', policyPreset: 'isolated', scopes, ...more };
      const { enrollmentToken } = await call(parent, 'delegate_agent', asked);
      const device = await enrol(kit, String(enrollmentToken), name);
      const state = await kit.services.states.current(workspace);
      return { id: state.agents.get(name)?.uid ?? '', token: String(device.agentToken) };
    },

    enrol: (token: string, name: string) => enrol(kit, token, name),

    async allowed(src: string, dst: string) {
      const state = await kit.services.states.current(workspace);
      return kit.services.states.reachability(state, kit.clock.time).allowed(src, dst);
    },

    async state() {
      return kit.services.states.current(workspace);
    },

    async [Symbol.asyncDispose]() {
      await kit[Symbol.asyncDispose]();
    },
  };
}

export type Scene = Awaited<ReturnType<typeof buildScene>>;

export const INTENT = 'let role=web reach role=db on port 5432';

/** What waits for a person, of a plan that grace is asked to approve. */
export async function planned(scene: Scene, bearer: string): Promise<string> {
  const { plan_id } = await scene.call(bearer, 'plan_network_change', { intent: INTENT });
  const { workflow_id } = await scene.call(bearer, 'apply_network_change', { plan_id, approved_by: 'grace' });
  return workflow_id;
}

export const approve = (scene: Scene, bearer: string, id: string) => scene.call(bearer, 'approve_workflow', { id });

/** Gives a peer another name, which grace approves where a second person is needed. */
export async function rename(scene: Scene, id: string, name: string): Promise<void> {
  const { workflow_id } = await scene.call(scene.ada, 'update_peer', { id, name });
  if (workflow_id !== undefined) await approve(scene, scene.grace, workflow_id);
}
