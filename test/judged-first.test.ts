import { expect, test } from 'vitest';
import type { Face } from '../core/base/operation.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { JsonText } from '../core/compute/compute.ts';
import { COMPUTE_LIMITS } from '../plane/compute/limits.ts';
import type { AnyCall } from '../plane/compute/messages.ts';
import { buildComputePool, type ComputePool } from '../plane/compute/pool.ts';
import type { Thread } from '../plane/compute/thread.ts';
import { heavyComputations } from '../tools/heavy.ts';
import { enrol, join } from './kits/plane/devices.ts';
import { buildKit, type Kit, person } from './kits/plane/kit.ts';

const WEB = { peerSelector: { matchLabels: { role: 'web' } } };
const PORTS = [{ protocol: 'TCP', port: 443 }];
const WITHIN = { action: 'ALLOW', ...WEB, ingress: [{ from: [{ peerSelector: {} }], ports: PORTS }] };
const SCOPES = ['network:read', 'network:write', 'intents:plan', 'intents:apply', 'agents:delegate'];

/** A plane whose computations are done in place of threads; a question runs until the plane ends. */
async function scene() {
  const begun: AnyCall[] = [];
  const startThread = (): Thread => {
    let isFree = true;
    return {
      get isFree() {
        return isFree;
      },
      async run(call) {
        begun.push(call);
        isFree = false;
        if (!('computation' in call)) return new Promise<never>(() => undefined);
        const { computation: name, workspace, input } = structuredClone(call);
        const computation = heavyComputations.find((one) => one.name === name);
        const output = await computation?.run(kit.services, workspace, input as never).finally(() => {
          isFree = true;
        });
        return new JsonText(new TextEncoder().encode(JSON.stringify(output)));
      },
      async end() {
        isFree = false;
      },
    };
  };
  const limits = { ...COMPUTE_LIMITS, threads: 1 };
  const pool: ComputePool = buildComputePool({ startThread, limits, clock: { now: () => 0 }, log: silentLog });
  const kit: Kit = await buildKit({ compute: pool });
  const workspace = await kit.workspace('prod');
  const as = person('admin', workspace);
  const admin = (name: string, raw: Record<string, unknown> = {}) => kit.call(name, raw, { as, workspace });
  const { token } = await admin('generate_join_token', { name: 'web', labels: { role: 'web' } });
  await join(kit, workspace, 'web-1', { token });
  await admin('create_policy', { name: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } });
  const root = await admin('create_agent', { name: 'root', scopes: SCOPES, reach: [{ to: [WEB], ports: PORTS }] });
  const { enrollmentToken } = await kit.call(
    'delegate_agent',
    { id: root.id, subAgentName: 'kid', ttl: '50m', policyPreset: 'inherit', scopes: SCOPES.slice(0, 4) },
    { bearer: root.token },
  );
  const { agentToken } = await enrol(kit, enrollmentToken, 'kid');
  const kid = (name: string, raw: Record<string, unknown>, face: Face = 'rest') =>
    kit.call(name, raw, { bearer: agentToken, face });
  const caller = await kit.gate.authenticate(agentToken, '127.0.0.1');
  /** The sub-agent asks; nobody answers. */
  const ask = (count: number) => {
    const { scopesIn, ...plain } = caller;
    const rest = { raw: {}, workspace, requestId: 'r', face: 'rest', origin: '127.0.0.1' } as const;
    const call = {
      ...rest,
      operation: 'simulate_connectivity',
      caller: { ...plain, scopes: [...scopesIn(workspace)] },
    };
    const asked = Array.from({ length: count }, () => pool.run(call, kit.services, new AbortController().signal));
    for (const one of asked) one.catch(() => undefined);
  };
  begun.length = 0;
  return {
    ...{ admin, kid, ask, pool, rootId: root.id },
    names: () => begun.map((call) => ('computation' in call ? call.computation : call.operation)),
    principals: () => begun.map((call) => ('computation' in call ? call.principal : call.caller?.line?.at(-1))),
    async [Symbol.asyncDispose]() {
      await pool.stop();
      await kit[Symbol.asyncDispose]();
    },
  };
}

test("an agent's write, a person's and its revocation end before any further question of it begins", async () => {
  await using plane = await scene();
  plane.ask(1 + COMPUTE_LIMITS.waiting.perPrincipal);
  const written = plane.kid('create_policy', { name: 'web', spec: WITHIN });
  const people = plane.admin('create_policy', { name: 'mine', spec: { ...WITHIN, action: 'DENY' } });
  const ended = plane.admin('revoke_agent', { id: 'kid' });
  expect(await written).toMatchObject({ name: 'web' });
  expect(await people).toMatchObject({ name: 'mine' });
  await ended;
  expect(plane.names()).toEqual(['simulate_connectivity', 'judge_writes']);
  expect(plane.principals()).toEqual([plane.rootId, plane.rootId]);
  expect(plane.pool.counts).toMatchObject({ running: 1, waiting: COMPUTE_LIMITS.waiting.perPrincipal, refused: 0 });
});

test('whatever a sub-agent has computed takes a place of its root agent', async () => {
  await using plane = await scene();
  await plane.admin('update_workspace', { settings: { requireApproval: true, autoApprove: { maxRisk: 'critical' } } });
  await plane.kid('preview_resources', { documents: [document('a')] });
  await plane.kid('create_policy', { name: 'asked', spec: WITHIN });
  const [src, dst] = [{ peers: ['kid'] }, { peers: ['web-1'] }];
  const spec = { action: 'ALLOW', peerSelector: dst, ingress: [{ from: [{ peerSelector: src }], ports: PORTS }] };
  const plan = await plane.kid('plan_network_change', {
    intent: 'let kid reach web-1 on port 443',
    changes: [{ action: 'create', resource: 'MeshPolicy', name: 'planned', spec }],
  });
  const applied = await plane.kid('apply_network_change', { plan_id: plan.plan_id }, 'mcp');
  expect([plan, applied]).toMatchObject([{ check: 'matches', warnings: [] }, { status: 'executed' }]);
  const [assess, judge] = ['assess_proposal', 'judge_writes'];
  // Previewed and tried; judged and put before a person; applied, executed and written.
  expect(plane.names()).toEqual([assess, judge, judge, assess, assess, assess, judge]);
  expect(new Set(plane.principals())).toEqual(new Set([plane.rootId]));
});

function document(name: string) {
  return { apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPolicy', metadata: { name }, spec: WITHIN };
}
