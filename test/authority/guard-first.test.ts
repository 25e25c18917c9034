import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MeshError } from '../../core/base/errors.ts';
import type { Scope } from '../../core/base/scope.ts';
import { operations } from '../../tools/index.ts';
import { seedPeers } from '../kits/records/seed-peers.ts';
import { buildScene, only, reachOf } from './scene.ts';

const WRITES: readonly Scope[] = [
  'network:write',
  'snapshots:write',
  'intents:plan',
  'intents:apply',
  'agents:write',
  'agents:delegate',
];
const ASSERTION = { src: 'role=web', dst: 'role=secret', expect: 'unreachable' };
const HEAD = { apiVersion: 'mesh.internal/v1alpha1' };

/**
 * What stands against writes besides authority: names that are taken, networks in use, an assertion, and a policy of a
 * delegated agent that would isolate peers if the base policy went.
 */
async function buildBounds() {
  const at = await buildScene();
  const boss = await at.agent('boss', ['network:read', ...WRITES], { reach: reachOf('web', 443) });
  await at.call(at.ada, 'update_policy', { id: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } });
  await at.call(at.ada, 'create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  await seedPeers(at.kit.services, at.workspace, { 'bench-1': { role: 'bench' } });
  await at.call(at.ada, 'update_peer', { id: 'bench-1', network: 'lab' });
  await at.call(at.ada, 'create_assertion', { name: 'web-not-secret', ...ASSERTION });
  await at.call(at.ada, 'create_policy', {
    name: 'out',
    spec: { action: 'ALLOW', peerSelector: only('web'), egress: [{ to: [{ peerSelector: {} }] }] },
  });
  const other = await at.agent('other', ['network:read', 'agents:delegate', 'network:write'], { reach: [{}] });
  await at.child(other.token, 'others-child', ['network:read']);
  const child = await at.child(boss.token, 'child', ['network:read', ...WRITES], { policyPreset: 'inherit' });
  const blind = await at.child(boss.token, 'blind', WRITES, { policyPreset: 'inherit' });
  const isolating = { action: 'ALLOW', peerSelector: only('db'), ingress: [] };
  await at.call(child.token, 'create_policy', { name: 'latent', spec: isolating });
  return { at, child, blind };
}

/** Each is beyond every delegation, and most meet something else that stands against them. */
const BEYOND: readonly (readonly [operation: string, input: Record<string, unknown>])[] = [
  ['delete_policy', { id: 'base' }],
  ['update_policy', { id: 'base', spec: { action: 'ALLOW', peerSelector: only('web'), ingress: [] } }],
  ['update_policy', { id: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] } }],
  ['update_policy', { id: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [], network: 'lab' } }],
  ['create_policy', { name: 'all', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] } }],
  ['create_policy', { name: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] } }],
  ['create_network', { name: 'lab', spec: { cidr: '10.99.0.0/24' } }],
  ['create_network', { name: 'lab2', spec: { cidr: '10.97.0.0/25' } }],
  ['update_network', { id: 'lab', spec: { cidr: '10.99.0.0/24' } }],
  ['update_network', { id: 'default', spec: { cidr: '10.97.0.0/24' } }],
  ['delete_network', { id: 'lab' }],
  ['delete_network', { id: 'default' }],
  ['update_peer', { id: 'web-1', labels: { role: 'secret' } }],
  ['update_peer', { id: 'web-1', network: 'lab' }],
  ['update_peer', { id: 'web-1', name: 'db-1' }],
  ['update_peer', { id: 'web-1', name: 'new' }],
  ['delete_peer', { id: 'web-1' }],
  ['create_assertion', { name: 'mine', ...ASSERTION, expect: 'reachable' }],
  ['create_assertion', { name: 'web-not-secret', ...ASSERTION }],
  ['update_assertion', { id: 'web-not-secret', ...ASSERTION, expect: 'reachable' }],
  ['delete_assertion', { id: 'web-not-secret' }],
  [
    'apply_resources',
    { documents: [{ ...HEAD, kind: 'MeshNetwork', metadata: { name: 'default' }, spec: { cidr: '10.97.0.0/24' } }] },
  ],
  [
    'apply_resources',
    { documents: [{ ...HEAD, kind: 'MeshPeer', metadata: { name: 'web-1', labels: { role: 'secret' } } }] },
  ],
  ['revoke_agent', { id: 'other' }],
  ['revoke_agent', { id: 'other', dryRun: true }],
];

/** What nobody is to learn of by trying to write. */
const HIDDEN = ['secret-1', 'bench-1', 'db-1', 'latent', 'web-not-secret', 'others-child', 'lab'];

describe('a delegated agent that writes what is beyond it', () => {
  let scene: Awaited<ReturnType<typeof buildBounds>>;
  beforeAll(async () => {
    scene = await buildBounds();
  });
  afterAll(() => scene.at[Symbol.asyncDispose]());

  test.each(BEYOND)('is told so by %s %j, and nothing of the network', async (name, input) => {
    const error: unknown = await scene.at.call(scene.child.token, name, input).catch((thrown) => thrown);
    if (!(error instanceof MeshError)) throw new Error(`${name} was not refused: ${JSON.stringify(error)}`);
    expect([error.code, error.message]).toEqual([
      'beyond_delegation',
      expect.stringContaining('beyond what the agent'),
    ]);
    // Connections are told to who may list peers.
    const said = error.message.split(' For example:')[0];
    expect(HIDDEN.filter((hidden) => !JSON.stringify(input).includes(hidden) && said?.includes(hidden))).toEqual([]);
  });

  test('every operation by which it may write what others made is tried', () => {
    const tried = new Set(BEYOND.map(([name]) => name));
    const scopes: readonly string[] = WRITES;
    const writing = operations.flatMap(({ name, access, effects }) =>
      !effects.readOnlyHint && scopes.includes(access) && !tried.has(name) ? [name] : [],
    );
    // They make records of the agent's own, or plans, which are judged when they are applied.
    expect(writing.sort()).toEqual([
      // Its caller is a person, who lets in a client.
      'allow_client_request',
      'apply_network_change',
      'create_agent',
      'delegate_agent',
      'plan_network_change',
      'renew_agent',
      'revert_network_change',
      'take_snapshot',
    ]);
  });
});

/** What a call names, guesses and expects must make no difference. */
const VARIED = ['web-1', 'db-1', 'base', 'lab', 'other', 'nobody', '10.96.0.1'].flatMap((id) => [
  { id },
  { id, revision: 1 },
  { id, labels: {} },
  { id, dryRun: true },
]);

test('without network:read every write of what is there is refused alike, whatever it names, guesses or expects', async () => {
  const { at, blind } = await buildBounds();
  await using _ = at;
  const caller = { bearer: blind.token, workspace: at.workspace };
  const answers = async (name: string, raw: Record<string, unknown>) => {
    const told = [];
    for (const ifMatch of [undefined, ['"x.1"'], 'any'] as const) {
      const more = { ...caller, ...(ifMatch && { ifMatch }) };
      const error: unknown = await at.kit.call({ name }, raw, more).catch((thrown) => thrown);
      told.push(error instanceof MeshError ? JSON.stringify([error.code, error.message, error.details]) : 'answered');
    }
    return told;
  };
  const names = new Set(BEYOND.map(([name]) => name));
  for (const name of names) {
    const tried = [...BEYOND.filter(([one]) => one === name).map(([, raw]) => raw), ...VARIED];
    const told = new Set<string>();
    for (const raw of tried) for (const answer of await answers(name, raw)) told.add(answer);
    expect([...told]).toEqual([expect.stringMatching(/^\["forbidden",.*\{"scope":"network:read"\}\]$/)]);
  }
});

test('a plan of a delegated agent that is beyond it is refused as that when it is applied, whatever it would break', async () => {
  const { at, child } = await buildBounds();
  await using _ = at;
  const changes = [
    {
      action: 'update',
      resource: 'MeshPolicy',
      name: 'base',
      spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] },
    },
  ];
  const { plan_id } = await at.call(child.token, 'plan_network_change', { intent: 'open all', changes });
  await expect(at.call(child.token, 'apply_network_change', { plan_id, approved_by: 'grace' })).rejects.toMatchObject({
    code: 'beyond_delegation',
  });
});
