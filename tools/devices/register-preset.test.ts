import { expect, test } from 'vitest';
import { networkJobs } from '../../core/peers/jobs.ts';
import { freshKey, proofOf } from '../../test/kits/plane/devices.ts';
import { GITHUB, GITHUB_CLAIMS, workloadIssuer } from '../../test/kits/plane/workloads.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const DATABASE = [
  { to: [{ peerSelector: { matchLabels: { role: 'db' } } }], ports: [{ protocol: 'TCP', port: 5432 }] },
];

async function buildPresetKit() {
  const kit = await buildWorkspaceKit();
  const issuer = await workloadIssuer(GITHUB, kit.clock);
  const identity = {
    issuer: GITHUB,
    claims: { repository_id: '74', ref: 'refs/heads/*' },
    keys: await issuer.keys(),
  };
  const { id: db } = await kit.join('db-1');
  await kit.join('web-1');
  await kit.ask('update_peer', { id: db, labels: { role: 'db' } });
  const apply = async (spec: object): Promise<string> => {
    const head = { apiVersion: 'mesh.internal/v1alpha1', kind: 'WorkloadRule', metadata: { name: 'ci' } };
    const documents = [{ ...head, spec: { identity, ...spec } }];
    const { items } = await kit.ask('apply_resources', { documents });
    return items[0].joinToken.split('.')[0];
  };
  return {
    ...kit,
    apply,
    async enter(token: string, name: string) {
      const key = freshKey();
      const proof = proofOf(key, token, kit.services.keys.controlKey);
      const device = { name, publicKey: key.publicKey, proof, identity: await issuer.token(GITHUB_CLAIMS) };
      return kit.call('register_device', device, { bearer: token });
    },
    /** `o` for open on a port of TCP, from the first to the second of each pair. */
    async reach(...pairs: readonly (readonly [string, string, number])[]): Promise<string> {
      const answers = await Promise.all(
        pairs.map(([src, dst, port]) => kit.ask('check_connectivity', { src, dst, protocol: 'TCP', port })),
      );
      return answers.map(({ verdict }) => (verdict === 'reachable' ? 'o' : '-')).join('');
    },
    async presets() {
      const { policies } = await kit.services.states.current(kit.workspace);
      return [...policies.values()].map(({ annotations }) => annotations['mesh.internal/preset']).filter(Boolean);
    },
    async tidy() {
      for (const job of networkJobs(kit.services)) if (job.name === 'remove presets') await job.run();
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  };
}

const PAIRS = [
  ['job', 'db-1', 5432],
  ['job', 'db-1', 22],
  ['job', 'web-1', 443],
  ['web-1', 'job', 80],
] as const;

test.each([
  ['isolated', {}, '----'],
  ['sandboxed', { egress: DATABASE }, 'o---'],
  ['inherit', {}, 'oooo'],
])('a workload of a rule with the preset %s is held to it from its first instant', async (preset, more, open) => {
  await using plane = await buildPresetKit();
  await plane.enter(await plane.apply({ preset, ...more }), 'job');
  expect(await plane.reach(...PAIRS)).toBe(open);
});

test('no policy, order or label takes a workload out of its preset, and who changes that is told what does', async () => {
  await using plane = await buildPresetKit();
  await plane.enter(await plane.apply({ preset: 'isolated', labels: { role: 'ci' } }), 'job');
  const spec = { action: 'ALLOW', peerSelector: {}, ingress: [{}], egress: [{}] };
  await plane.ask('create_policy', { name: 'open', spec });
  expect(await plane.reach(...PAIRS)).toBe('----');
  const { policies, peers } = await plane.services.states.current(plane.workspace);
  const preset = [...policies.keys()].find((name) => name.includes('isolated')) ?? '';
  const error = await plane.ask('delete_policy', { id: preset }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('preset of their rule') });
  const labels = peers.get('job')?.labels ?? {};
  expect(Object.keys(labels)).toEqual(['role', 'mesh.internal/workload']);
  await plane.ask('update_peer', { id: 'job', labels: {} });
  expect(await plane.reach(...PAIRS)).toBe('----');
  const other = { 'mesh.internal/workload': 'other' };
  expect(await refusalOf(plane.ask('update_peer', { id: 'job', labels: other }))).toContain('invalid_input');
});

test('workloads of one rule share its preset, which goes with the last of them, and not with the rule', async () => {
  await using plane = await buildPresetKit();
  const token = await plane.apply({ preset: 'isolated' });
  await plane.enter(token, 'job');
  await plane.enter(token, 'job-2');
  expect(await plane.presets()).toEqual(['isolated']);
  const [{ id }] = (await plane.ask('list_join_tokens', {})).items;
  await plane.ask('revoke_join_token', { id });
  await plane.ask('delete_peer', { id: 'job-2' });
  await plane.tidy();
  expect([await plane.presets(), await plane.reach(...PAIRS)]).toEqual([['isolated'], '----']);
  await plane.ask('delete_peer', { id: 'job' });
  await plane.tidy();
  expect(await plane.presets()).toEqual([]);
});

test('a workload that joined before its rule was changed stays held to what it was', async () => {
  await using plane = await buildPresetKit();
  await plane.enter(await plane.apply({ preset: 'isolated' }), 'job');
  await plane.enter(await plane.apply({ preset: 'inherit' }), 'later');
  expect(await plane.reach(['job', 'db-1', 22], ['later', 'db-1', 22])).toBe('-o');
  expect((await plane.presets()).toSorted()).toEqual(['inherit', 'isolated']);
});

test('a workload that joins as the last one before it goes is held to its preset all the same', async () => {
  await using plane = await buildPresetKit();
  const token = await plane.apply({ preset: 'isolated' });
  await plane.enter(token, 'job');
  await plane.ask('delete_peer', { id: 'job' });
  await Promise.all([plane.tidy(), plane.enter(token, 'next'), plane.tidy()]);
  await plane.tidy();
  expect([await plane.presets(), await plane.reach(['next', 'db-1', 22])]).toEqual([['isolated'], '-']);
});

test('policies of presets are no part of files, and a device of people has no preset', async () => {
  await using plane = await buildPresetKit();
  await plane.enter(await plane.apply({ preset: 'isolated' }), 'job');
  const { resources, left_out } = await plane.ask('export_resources', {});
  expect(resources.filter(({ kind }: { kind: string }) => kind === 'MeshPolicy')).toEqual([]);
  expect(left_out).toMatchObject([{ kind: 'MeshPolicy', why: 'it is the preset of an agent or of workloads' }]);
  const people = { name: 'people', preset: 'isolated' };
  expect(await refusalOf(plane.ask('generate_join_token', people))).toBe('invalid_input /preset');
});
