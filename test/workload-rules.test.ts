import { expect, test } from 'vitest';
import { filesOf } from '../cli/resource-files.ts';
import type { Scope } from '../core/base/scope.ts';
import { tokenAges } from '../core/compliance/facts/token-ages.ts';
import { removeSpentTokens } from '../core/identity/remove-spent-tokens.ts';
import { buildScene } from './authority/scene.ts';
import { freshKey, proofOf } from './kits/plane/devices.ts';
import { buildPeopleKit } from './kits/plane/identity-kit.ts';
import { person } from './kits/plane/kit.ts';
import { GITHUB, GITHUB_CLAIMS, workloadIssuer } from './kits/plane/workloads.ts';
import { buildWorkspaceKit, refusalOf } from './kits/plane/workspace-kit.ts';

const CLAIMS = { repository_id: '74', ref: 'refs/heads/*' };
const IDENTITY = { issuer: GITHUB, claims: CLAIMS };
const rule = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'mesh.internal/v1alpha1',
  kind: 'WorkloadRule',
  metadata: { name: 'ci', ...metadata },
  spec: { identity: IDENTITY, ...spec },
});
const results = ({ items }: { items: readonly { name: string; result: string }[] }) =>
  items.map(({ name, result }) => `${name} ${result}`);
const WHOLE = {
  identity: IDENTITY,
  labels: { role: 'ci' },
  network: 'lab',
  deviceLabels: ['zone'],
  deviceTtl: '2h',
  admits: true,
  preset: 'sandboxed',
  egress: [{ to: [{ peerSelector: { peers: ['db-1'] } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
  usageLimit: 50,
  expiresAt: '2030-01-31T12:00:00.000Z',
};
const LAB = {
  apiVersion: 'mesh.internal/v1alpha1',
  kind: 'MeshNetwork',
  metadata: { name: 'lab' },
  spec: { cidr: '10.97.0.0/24' },
};

test('a rule is made by its document with the network that it names, is exported as it was written, and applied again changes nothing', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('db-1');
  const written = rule(WHOLE, { annotations: { why: 'builds' }, labels: { team: 'ci' } });
  const documents = [written, LAB];
  expect(results(await kit.ask('apply_resources', { documents }))).toEqual(['ci created', 'lab created']);
  const { resources } = await kit.ask('export_resources', {});
  const exported = resources.filter(({ kind }: { kind: string }) => kind === 'WorkloadRule');
  expect(exported).toEqual([written]);
  expect([...filesOf(exported).keys()]).toEqual(['workload-rules/ci.yaml']);
  const { revision } = await kit.services.states.current(kit.workspace);
  expect(results(await kit.ask('apply_resources', { documents: exported }))).toEqual(['ci unchanged']);
  expect((await kit.services.states.current(kit.workspace)).revision).toBe(revision);
});

test('a preview shows the rule before and after and writes nothing, and a change keeps the token and the uses', async () => {
  await using kit = await buildWorkspaceKit();
  const [made] = (await kit.ask('apply_resources', { documents: [rule()] })).items;
  const issuer = await workloadIssuer(GITHUB, kit.clock);
  const keyed = { identity: { ...IDENTITY, keys: await issuer.keys() } };
  const documents = [rule({ ...keyed, labels: { role: 'ci' } }, { name: 'CI' })];
  const preview = await kit.ask('preview_resources', { documents });
  expect(preview).toMatchObject({
    items: [{ kind: 'WorkloadRule', name: 'ci', result: 'updated' }],
    would_change: true,
    changes: [{ action: 'update', resource: 'WorkloadRule', name: 'ci', after: expect.stringContaining('role: ci') }],
    diff_markdown: expect.stringContaining('+    role: ci'),
  });
  expect(JSON.stringify(preview)).not.toContain(made.joinToken);
  expect((await kit.ask('list_join_tokens', {})).items).toMatchObject([
    { name: 'ci', labels: {}, token: made.joinToken },
  ]);
  const [changed] = (await kit.ask('apply_resources', { documents })).items;
  expect(changed).toMatchObject({ result: 'updated', joinToken: made.joinToken });
  const key = freshKey();
  const token = made.joinToken.split('.')[0];
  const device = { name: 'job', publicKey: key.publicKey, proof: proofOf(key, token, kit.services.keys.controlKey) };
  const identity = await issuer.token(GITHUB_CLAIMS);
  const joined = await kit.call('register_device', { ...device, identity }, { bearer: token });
  expect(joined).toMatchObject({ name: 'job' });
  await kit.ask('apply_resources', { documents: [rule({ ...keyed, labels: { role: 'build' } })] });
  expect((await kit.ask('list_join_tokens', {})).items).toMatchObject([
    { usedCount: 1, labels: { role: 'build' }, usageLimit: 0, expiresAt: '9999-12-31T23:59:59.999Z' },
  ]);
  const again = { ...device, name: 'thief', identity };
  const other = freshKey();
  const proof = proofOf(other, token, kit.services.keys.controlKey);
  expect(
    await refusalOf(kit.call('register_device', { ...again, publicKey: other.publicKey, proof }, { bearer: token })),
  ).toBe('unauthenticated');
});

test('a preview of rules alone says which are added, changed and removed, and nothing of a network that stays', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('apply_resources', { documents: [rule(), rule({}, { name: 'old' })] });
  const documents = [rule({ usageLimit: 3 }), rule({}, { name: 'new' })];
  const { diff_markdown: text } = await kit.ask('preview_resources', { documents, prune: ['WorkloadRule'] });
  expect(text.split('\n')[0]).toBe('# Rules for workloads: adds `new`; changes `ci`; removes `old`');
  for (const untrue of ['Opens', 'None', 'nothing']) expect(text).not.toContain(untrue);
  const shut = { apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPolicy', metadata: { name: 'shut' } };
  const policy = { ...shut, spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } };
  const both = await kit.ask('preview_resources', { documents: [...documents, policy] });
  for (const part of ['adds `new`', 'create MeshPolicy `shut`', 'create WorkloadRule `new`'])
    expect(both.diff_markdown).toContain(part);
});

test('no document is needed where kinds to prune are named: there is nothing of them then', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('apply_resources', { documents: [rule()] });
  expect(await refusalOf(kit.ask('apply_resources', { documents: [], prune: [] }))).toMatch('invalid_input');
  const answer = await kit.ask('apply_resources', { documents: [], prune: ['WorkloadRule'] });
  expect(results(answer)).toEqual(['ci deleted']);
});

test('a rule that is made anew has the token that it had, and one of another workspace has another', async () => {
  await using kit = await buildWorkspaceKit();
  const apply = async (ask = kit.ask) => (await ask('apply_resources', { documents: [rule()] })).items[0].joinToken;
  const token = await apply();
  const [{ id }] = (await kit.ask('list_join_tokens', {})).items;
  await kit.ask('revoke_join_token', { id });
  expect([await apply(), (await apply(kit.foreign)) === token]).toEqual([token, false]);
});

test('prune deletes the rules that no document is of where it names their kind, and join tokens that are secrets never', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('apply_resources', { documents: [rule(), rule({}, { name: 'old' })] });
  await kit.ask('generate_join_token', { name: 'people' });
  const documents = [rule()];
  expect(results(await kit.ask('apply_resources', { documents, prune: ['MeshPolicy'] }))).toEqual(['ci unchanged']);
  const prune = ['WorkloadRule'];
  const expected = ['ci unchanged', 'old deleted'];
  expect(results(await kit.ask('preview_resources', { documents, prune }))).toEqual(expected);
  expect(results(await kit.ask('apply_resources', { documents, prune }))).toEqual(expected);
  const names = (await kit.ask('list_join_tokens', {})).items.map(({ name }: { name: string }) => name);
  expect(names.toSorted()).toEqual(['ci', 'people']);
});

test('a rule whose time is over is refused, and counts as none with prune', async () => {
  await using kit = await buildWorkspaceKit();
  const documents = [rule({ expiresAt: new Date(kit.clock.time).toISOString() })];
  expect(await refusalOf(kit.ask('apply_resources', { documents }))).toBe('invalid_input /documents/0/spec/expiresAt');
  expect(results(await kit.ask('apply_resources', { documents, prune: ['WorkloadRule'] }))).toEqual(['ci ended']);
});

test('who may not make join tokens neither applies, prunes nor sees rules, and who may not approve devices makes none that admits', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('apply_resources', { documents: [rule()] });
  const held: Scope[] = ['network:read', 'network:write'];
  const [weak, strong] = [kit.holding(...held), kit.holding(...held, 'tokens:write')];
  for (const name of ['apply_resources', 'preview_resources']) {
    expect(await refusalOf(weak(name, { documents: [rule()] }))).toBe('forbidden tokens:write');
    const { apiVersion } = LAB;
    const policy = {
      apiVersion,
      kind: 'MeshPolicy',
      metadata: { name: 'a' },
      spec: { action: 'DENY', peerSelector: {} },
    };
    expect(await refusalOf(weak(name, { documents: [policy], prune: ['WorkloadRule'] }))).toBe(
      'forbidden tokens:write',
    );
  }
  const kinds = async (ask: typeof weak) =>
    (await ask('export_resources', {})).resources.map(({ kind }: { kind: string }) => kind);
  expect([await kinds(weak), await kinds(strong)]).toEqual([['MeshNetwork'], ['MeshNetwork', 'WorkloadRule']]);
  const scopes: ReadonlySet<Scope> = new Set([...held, 'tokens:write']);
  const as = { ...person('operator', kit.workspace), scopesIn: () => scopes };
  const apply = (documents: object[]) => kit.call('apply_resources', { documents }, { as, workspace: kit.workspace });
  expect(await refusalOf(apply([rule({ admits: true })]))).toBe('forbidden peers:approve');
  await kit.ask('apply_resources', { documents: [rule({ admits: true })] });
  expect(results(await apply([rule({ admits: true })]))).toEqual(['ci unchanged']);
});

test.each<[string, object, string]>([
  ['of everyone', { identity: { ...IDENTITY, claims: { ...CLAIMS, ref: '*' } } }, '/identity/claims/ref'],
  ['of each branch', { identity: { ...IDENTITY, claims: { repository_id: '74' } } }, '/identity/claims'],
  ['for a network that is not there', { network: 'nowhere' }, '/network'],
  ['with labels of the control plane', { labels: { 'mesh.internal/agent': 'x' } }, '/labels/mesh.internal~1agent'],
  ['with a preset that delegates', { preset: 'coordinator' }, '/preset'],
  ['with an egress of no preset', { egress: [{ to: ['*'] }] }, '/egress'],
  [
    'with an egress to nobody',
    { preset: 'sandboxed', egress: [{ to: [{ peerSelector: { peers: ['x'] } }] }] },
    '/egress/0/to/0/peerSelector/peers/0',
  ],
  ['with a life that is none', { deviceTtl: 'long' }, '/deviceTtl'],
  ['with a field that there is not', { ttl: '2h' }, '/ttl'],
])('a rule %s is refused at its place, and nothing is written', async (_what, spec, pointer) => {
  await using kit = await buildWorkspaceKit();
  const error = await kit.ask('apply_resources', { documents: [LAB, rule(spec)] }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'invalid_input',
    details: {
      errors: [{ pointer: `/documents/1/spec${pointer}`, document: { kind: 'WorkloadRule', name: 'ci' } }],
    },
  });
  expect((await kit.ask('export_resources', {})).resources).toHaveLength(1);
});

test('a rule that is named twice, has texts of the control plane or another namespace, is refused', async () => {
  await using kit = await buildWorkspaceKit();
  const refused = (...documents: object[]) => refusalOf(kit.ask('apply_resources', { documents }));
  expect(await refused(rule(), rule({}, { name: 'CI' }))).toBe('invalid_input /documents/1/metadata/name');
  expect(await refused(rule({}, { annotations: { 'mesh.internal/x': 'y' } }))).toBe(
    'invalid_input /documents/0/metadata/annotations',
  );
  expect(await refused(rule({}, { namespace: 'dev' }))).toBe('invalid_input /documents/0/metadata/namespace');
  expect(await refused(rule({}, { name: 'a/b' }))).toBe('invalid_input /documents/0/metadata/name');
});

test('where two decide, a rule with labels waits, and so does a change of whom it lets in', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('apply_resources', { documents: [rule({ labels: { role: 'ci' } })] });
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const wider = rule({ labels: { role: 'ci' }, identity: { ...IDENTITY, claims: { ...CLAIMS, ref: 'refs/*/*' } } });
  const preview = await kit.ask('preview_resources', { documents: [wider] });
  expect(preview.waits_for).toEqual([
    `changes the join token ci for workloads of ${GITHUB} (repository_id=74, ref=refs/*/*) with labels: role=ci is set`,
  ]);
  expect(await kit.ask('apply_resources', { documents: [wider] })).toMatchObject({ status: 'pending_approval' });
  expect((await kit.ask('list_join_tokens', {})).items[0].identity.claims.ref).toBe(CLAIMS.ref);
  expect(results(await kit.ask('apply_resources', { documents: [rule({}, { name: 'plain' })] }))).toEqual([
    'plain created',
  ]);
  const held = rule({ preset: 'isolated' }, { name: 'held' });
  expect(await kit.ask('apply_resources', { documents: [held] })).toMatchObject({ status: 'pending_approval' });
});

test('a join token for workloads is a rule of its name: exported, changed by its document, and made once', async () => {
  await using kit = await buildWorkspaceKit();
  const token = { name: 'git jobs', identity: IDENTITY, expiry: '24h', deviceTtl: '1h' };
  const made = await kit.ask('generate_join_token', token);
  expect(made.name).toBe('git-jobs');
  const { resources } = await kit.ask('export_resources', {});
  const documents = resources.filter(({ kind }: { kind: string }) => kind === 'WorkloadRule');
  expect(documents).toMatchObject([{ metadata: { name: 'git-jobs' }, spec: { deviceTtl: '1h' } }]);
  expect(documents[0].spec.usageLimit).toBeUndefined();
  const { items } = await kit.ask('apply_resources', { documents });
  expect(items).toMatchObject([{ result: 'unchanged', joinToken: made.token }]);
  expect(await refusalOf(kit.ask('generate_join_token', token))).toBe('conflict');
  expect(await refusalOf(kit.ask('generate_join_token', { ...token, name: 'git/jobs' }))).toBe('invalid_input /name');
});

test('what happened to a rule is in the audit log, with the fields that changed', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('apply_resources', { documents: [rule()] });
  await kit.ask('apply_resources', { documents: [rule({ labels: { role: 'ci' } })] });
  const { items } = await kit.ask('list_audit', {});
  const text = JSON.stringify(items);
  expect(text).toContain('applied 1 document: updated ci');
  expect(text).toContain('labels.role: unset → ci');
});

test('an agent applies a rule of its own within its bounds, and neither changes nor prunes those of people', async () => {
  await using scene = await buildScene();
  const scopes = ['network:read', 'network:write', 'tokens:write'] as const;
  const boss = await scene.agent('boss', scopes, {});
  await scene.call(scene.ada, 'apply_resources', { documents: [rule({}, { name: 'people' })] });
  const apply = (documents: object[], more: object = {}) =>
    scene.call(boss.token, 'apply_resources', { documents, ...more });
  const mine = await apply([rule({}, { name: 'mine' })]);
  expect(results(mine)).toEqual(['mine created']);
  expect(results(await apply([rule({}, { name: 'mine' })]))).toEqual(['mine unchanged']);
  const other = rule({ identity: { ...IDENTITY, claims: { ...CLAIMS, ref: 'refs/tags/*' } } }, { name: 'people' });
  expect(await apply([other])).toMatchObject({ status: 'pending_approval' });
  expect(await apply([rule({}, { name: 'mine' })], { prune: ['WorkloadRule'] })).toMatchObject({
    status: 'pending_approval',
  });
});

test('a rule that is used up stays until its document says more uses, and is no secret that has to be renewed', async () => {
  await using kit = await buildPeopleKit();
  const issuer = await workloadIssuer(GITHUB, kit.clock);
  const identity = { ...IDENTITY, keys: await issuer.keys() };
  const apply = async (usageLimit: number) =>
    (await kit.ada('apply_resources', { documents: [rule({ identity, usageLimit })] })).items[0].joinToken.split(
      '.',
    )[0];
  const join = async (bearer: string, name: string) => {
    const key = freshKey();
    const proof = proofOf(key, bearer, kit.services.keys.controlKey);
    const device = { name, publicKey: key.publicKey, proof, identity: await issuer.token(GITHUB_CLAIMS) };
    return kit.call('register_device', device, { bearer });
  };
  const token = await apply(1);
  await join(token, 'job');
  expect(await refusalOf(join(token, 'next'))).toBe('unauthenticated');
  kit.clock.time += 3_600_000;
  expect(await removeSpentTokens(kit.services)).toBe(0);
  expect((await kit.ada('list_join_tokens', {})).items).toMatchObject([{ name: 'ci', usedCount: 1, usageLimit: 1 }]);
  await apply(2);
  expect(await join(token, 'next')).toMatchObject({ name: 'next' });
  const facts = { services: kit.services, workspace: kit.prod, at: kit.clock.time } as Parameters<typeof tokenAges>[0];
  expect(await tokenAges(facts)).toMatchObject({
    holds: undefined,
    evidence: 'There are no API or join tokens in use.',
  });
});

test('a plan holds no rule, and says how one is made', async () => {
  await using kit = await buildWorkspaceKit();
  const documents = JSON.stringify(rule());
  await expect(kit.ask('plan_network_change', { documents, dry_run: true })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('is made by applying its document'),
  });
});
