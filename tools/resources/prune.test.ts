import { expect, test } from 'vitest';
import { WRITTEN_BY } from '../../core/model/written-by.ts';
import { buildScene, only, reachOf } from '../../test/authority/scene.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const HEAD = 'mesh.internal/v1alpha1';
const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };
const policy = (name: string, spec: object = SHUT, metadata: object = {}) => ({
  apiVersion: HEAD,
  kind: 'MeshPolicy',
  metadata: { name, ...metadata },
  spec,
});
const BOTH = ['MeshPolicy', 'MeshNetwork'];
const results = ({ items }: { items: readonly { name: string; result: string }[] }) =>
  items.map(({ name, result }) => `${name} ${result}`);

test('with prune the policies and networks that no document is of are deleted in the same commit, the default network never', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['a', 'b']) await kit.ask('create_policy', { name, spec: SHUT });
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  const { revision } = await kit.services.states.current(kit.workspace);
  const answer = await kit.as('operator')('apply_resources', { documents: [policy('A'), policy('c')], prune: BOTH });
  expect(results(answer)).toEqual(['a unchanged', 'c created', 'b deleted', 'lab deleted']);
  expect(answer.revision).toBe(revision + 1);
  const [commit] = (await kit.services.store.commits(kit.workspace, revision, 10)).slice(-1);
  expect(commit).toMatchObject({ reason: 'applied 2 documents: created c; deleted b, lab', direct: true });
});

test.each([
  ['a name as it is stored', 'web-only', 'the-lab'],
  ['spaces, which become hyphens', 'web only', 'the lab'],
  ['other letters', 'WEB-only', 'The-Lab'],
  ['both', 'Web Only', 'THE lab'],
])(
  'a document means the record that is there, by %s, with prune and without',
  async (_how, policyName, networkName) => {
    await using kit = await buildWorkspaceKit();
    await kit.ask('create_policy', { name: 'web-only', spec: SHUT });
    await kit.ask('create_policy', { name: 'old', spec: SHUT });
    await kit.ask('create_network', { name: 'the-lab', spec: { cidr: '10.97.0.0/24' } });
    const lab = {
      apiVersion: HEAD,
      kind: 'MeshNetwork',
      metadata: { name: networkName },
      spec: { cidr: '10.97.0.0/24' },
    };
    const documents = [policy(policyName), lab];
    const kept = ['web-only unchanged', 'the-lab unchanged'];
    expect(results(await kit.ask('apply_resources', { documents }))).toEqual(kept);
    expect(results(await kit.ask('apply_resources', { documents, prune: BOTH }))).toEqual([...kept, 'old deleted']);
  },
);

test('only the kinds that are named are pruned, and nothing is without prune', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'a', spec: SHUT });
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  expect(results(await kit.ask('apply_resources', { documents: [policy('c')] }))).toEqual(['c created']);
  expect(results(await kit.ask('apply_resources', { documents: [policy('c')], prune: [] }))).toEqual(['c unchanged']);
  const answer = await kit.ask('apply_resources', { documents: [policy('c')], prune: ['MeshNetwork'] });
  expect(results(answer)).toEqual(['c unchanged', 'lab deleted']);
});

test('with prune a document says all labels and annotations, without it those that it leaves out stay', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  const peer = { apiVersion: HEAD, kind: 'MeshPeer', metadata: { name: 'web-1' } };
  const marked = { labels: { team: 'data' }, annotations: { why: 'audit' } };
  await kit.ask('apply_resources', {
    documents: [policy('a', SHUT, marked), { ...peer, metadata: { name: 'web-1', labels: { role: 'web' } } }],
  });
  const documents = [policy('a'), peer];
  expect(results(await kit.ask('apply_resources', { documents }))).toEqual(['a unchanged', 'web-1 unchanged']);
  expect(results(await kit.ask('apply_resources', { documents, prune: [] }))).toEqual(['a updated', 'web-1 updated']);
  expect(await kit.ask('get_policy', { id: 'a' })).toMatchObject({ labels: {}, annotations: {} });
  expect(await kit.ask('get_peer', { id: 'web-1' })).toMatchObject({ labels: {} });
});

test('with prune a policy of the documents whose time is over counts as none, and without prune it is refused', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'a', spec: SHUT });
  const expiresAt = new Date(kit.clock.time).toISOString();
  const documents = [policy('a', { ...SHUT, expiresAt }), policy('b')];
  expect(await refusalOf(kit.ask('apply_resources', { documents }))).toBe('invalid_input /documents/0/spec/expiresAt');
  expect(results(await kit.ask('apply_resources', { documents, prune: BOTH }))).toEqual([
    'a ended',
    'b created',
    'a deleted',
  ]);
});

test('a network with peers is not pruned: the whole is refused and nothing is written', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  await kit.join('web-1');
  await kit.ask('update_peer', { id: 'web-1', network: 'lab' });
  const { revision } = await kit.services.states.current(kit.workspace);
  expect(await refusalOf(kit.ask('apply_resources', { documents: [policy('a')], prune: BOTH }))).toBe('conflict');
  expect((await kit.services.states.current(kit.workspace)).revision).toBe(revision);
});

test('where changes are approved, a prune is one workflow, whose approval creates and deletes together', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'old', spec: SHUT });
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const { workflow_id: id } = await kit.as('operator')('apply_resources', { documents: [policy('new')], prune: BOTH });
  const workflow = await kit.ask('get_workflow', { id });
  expect(workflow.summary).toBe('Opens nothing; closes nothing. (applied 1 document: created new; deleted old)');
  expect(workflow.changes.map((one: { action: string; name: string }) => `${one.action} ${one.name}`)).toEqual([
    'create new',
    'delete old',
  ]);
  expect([...(await kit.services.states.current(kit.workspace)).policies.keys()]).toEqual(['old']);
  await kit.ask('approve_workflow', { id });
  expect([...(await kit.services.states.current(kit.workspace)).policies.keys()]).toEqual(['new']);
});

const WRITER = ['network:read', 'network:write', 'agents:delegate'] as const;
const EMPTY = { action: 'DENY', peerSelector: { matchLabels: { role: 'nobody' } } };

async function withAgents() {
  const scene = await buildScene();
  const reach = [...reachOf('web', 443), ...reachOf('db', 443)];
  const boss = await scene.agent('boss', WRITER, { reach });
  const bot = await scene.child(boss.token, 'bot', WRITER.slice(0, 2));
  const names = async () => [...(await scene.state()).policies.keys()].map((name) => name.replace(/^agt_\w+/, 'AGENT'));
  return { ...scene, boss, bot, names, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

test('a prune of a person leaves what agents wrote and the presets that bind them', async () => {
  await using at = await withAgents();
  await at.call(at.boss.token, 'apply_resources', { documents: [policy('by-agent', EMPTY)] });
  expect((await at.state()).policies.get('by-agent')?.annotations).toEqual({ [WRITTEN_BY]: at.boss.id });
  const answer = await at.call(at.ada, 'apply_resources', { documents: [policy('mine', EMPTY)], prune: BOTH });
  expect(results(answer)).toEqual(['mine created', 'base deleted']);
  expect((await at.names()).toSorted()).toEqual(['AGENT.isolated', 'by-agent', 'mine']);
});

test('a prune of a delegated agent is held to its bounds: what people wrote, it does not delete', async () => {
  await using at = await withAgents();
  const before = await at.names();
  const input = { documents: [policy('by-bot', EMPTY)], prune: ['MeshPolicy'] };
  for (const name of ['apply_resources', 'preview_resources']) {
    expect([name, await refusalOf(at.call(at.bot.token, name, input))]).toEqual([name, 'beyond_delegation']);
  }
  expect(await at.names()).toEqual(before);
});

test('a prune of a root agent that would delete what a person wrote waits for a person, and says so in its preview', async () => {
  await using at = await withAgents();
  const input = { documents: [policy('by-boss', EMPTY)], prune: ['MeshPolicy'] };
  const preview = await at.call(at.boss.token, 'preview_resources', input);
  expect(preview.waits_for.join()).toContain('base');
  const held = await at.call(at.boss.token, 'apply_resources', input);
  expect(held).toMatchObject({ status: 'pending_approval' });
  expect(await at.names()).not.toContain('by-boss');
});

test('an agent prunes what it wrote itself and has no document of any more', async () => {
  await using at = await withAgents();
  const ports = [{ protocol: 'TCP', port: 443 }];
  const own = {
    action: 'ALLOW',
    peerSelector: only('web'),
    ingress: [{ from: [{ peerSelector: only('db') }], ports }],
  };
  const base = policy('base', { action: 'DENY', peerSelector: {} });
  const apply = (...names: string[]) =>
    at.call(at.boss.token, 'apply_resources', {
      documents: [base, ...names.map((name) => policy(name, own))],
      prune: ['MeshPolicy'],
    });
  expect(results(await apply('one', 'two'))).toEqual(['base unchanged', 'one created', 'two created']);
  expect(results(await apply('one'))).toEqual(['base unchanged', 'one unchanged', 'two deleted']);
});
