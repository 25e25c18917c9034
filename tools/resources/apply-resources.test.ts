import { expect, test } from 'vitest';
import { join } from '../../test/kits/plane/devices.ts';
import { buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';

const HEAD = 'apiVersion: mesh.internal/v1alpha1\n';
const WEB_TO_DB = `${HEAD}kind: MeshPolicy
metadata: { name: web-to-db, namespace: prod, labels: { team: data } }
spec:
  action: ALLOW
  network: lab
  peerSelector: { matchLabels: { role: db } }
  ingress:
    - from: [{ peerSelector: { matchLabels: { role: web } } }]
      ports: [{ protocol: TCP, port: 5432 }]
`;
const LAB = `${HEAD}kind: MeshNetwork\nmetadata: { name: lab }\nspec: { cidr: 10.97.0.0/24 }\n`;

async function openProd() {
  const kit = await buildKit();
  const workspace = await kit.workspace('prod');
  const as = person('operator', workspace, 'ada');
  const call = (name: string, input: Record<string, unknown> = {}) => kit.call(name, input, { as, workspace });
  return { kit, workspace, call, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

async function revisionOf(kit: Kit, workspace: string): Promise<number> {
  return (await kit.services.states.current(workspace)).revision;
}

test('several documents are one commit, whatever their order, and applying them again changes nothing', async () => {
  await using prod = await openProd();
  const before = await revisionOf(prod.kit, prod.workspace);
  const manifest = `${WEB_TO_DB}---\n${LAB}`;
  expect(await prod.call('apply_resources', { manifest })).toEqual({
    items: [
      { kind: 'MeshPolicy', name: 'web-to-db', result: 'created' },
      { kind: 'MeshNetwork', name: 'lab', result: 'created' },
    ],
    revision: before + 1,
  });
  expect(await prod.call('apply_resources', { manifest })).toMatchObject({
    items: [{ result: 'unchanged' }, { result: 'unchanged' }],
    revision: before + 1,
  });
  const changed = manifest.replace('5432', '5433');
  expect(await prod.call('apply_resources', { manifest: changed })).toMatchObject({
    items: [{ result: 'updated' }, { result: 'unchanged' }],
  });
});

test('an operator who writes without approval is recorded as direct', async () => {
  await using prod = await openProd();
  await prod.call('apply_resources', { manifest: LAB });
  const [commit] = (await prod.kit.services.store.commits(prod.workspace, 0, 100)).slice(-1);
  expect(commit).toMatchObject({ actor: 'user:ada', direct: true, reason: 'applied 1 document: created lab' });
});

test('labels and network of a peer can be applied; what its device owns cannot', async () => {
  await using prod = await openProd();
  await join(prod.kit, prod.workspace, 'db 1');
  const peer = (spec: string) =>
    `${HEAD}kind: MeshPeer\nmetadata: { name: db-1, labels: { role: db } }\nspec: ${spec}\n`;
  await prod.call('apply_resources', { manifest: `${LAB}---\n${peer('{ network: lab }')}` });
  expect(await prod.call('get_peer', { id: 'db-1' })).toMatchObject({
    labels: { role: 'db' },
    network: 'lab',
    status: { address: '10.97.0.1' },
  });
  await expect(prod.call('apply_resources', { manifest: peer('{ hostname: evil }') })).rejects.toMatchObject({
    details: { errors: [{ pointer: '/documents/0/spec/hostname' }] },
  });
});

test('a List is taken apart, and objects do as well as text', async () => {
  await using prod = await openProd();
  const item = {
    apiVersion: 'mesh.internal/v1alpha1',
    kind: 'MeshPolicy',
    metadata: { name: 'base' },
    spec: { action: 'DENY', peerSelector: {} },
  };
  const answer = await prod.call('apply_resources', { documents: [{ kind: 'List', items: [item] }] });
  expect(answer.items).toEqual([{ kind: 'MeshPolicy', name: 'base', result: 'created' }]);
});

test('the faults of all documents are named at once, of agents too, in the order of the documents', async () => {
  await using prod = await openProd();
  const agent = { kind: 'AgentIdentity', metadata: { name: 'a' }, spec: { scopes: 'all' } };
  const network = { kind: 'MeshNetwork', metadata: { name: 'n' }, spec: { cidr: 'x' } };
  const documents = [agent, network, { ...agent, spec: { ttl: 7 } }];
  await expect(prod.call('apply_resources', { documents })).rejects.toMatchObject({
    code: 'invalid_input',
    details: {
      errors: [
        '/documents/0/apiVersion',
        '/documents/0/spec/scopes',
        '/documents/1/apiVersion',
        '/documents/1/spec/cidr',
        '/documents/2/apiVersion',
        '/documents/2/spec/ttl',
      ].map((pointer) => expect.objectContaining({ pointer })),
    },
  });
});

test('a policy sent as fields is told of both fields that it lacks', async () => {
  await using prod = await openProd();
  await expect(prod.call('create_policy', { labels: {} })).rejects.toMatchObject({
    details: { errors: [{ pointer: '/name' }, { pointer: '/spec' }] },
  });
});

test.each<[string, string, string, RegExp]>([
  ['an unknown network', WEB_TO_DB, '/documents/0/spec/network', /no network "lab"/],
  [
    'a wrong port, of the second document',
    `${LAB}---\n${WEB_TO_DB.replace('5432', '99999')}`,
    '/documents/1/spec/ingress/0/ports/0/port',
    /1 to 65535/,
  ],
  ['an unknown field', `${LAB}extra: 1\n`, '/documents/0/extra', /no such field/],
  ['another kind', `${HEAD}kind: Pod\nmetadata: { name: a }\n`, '/documents/0/kind', /MeshPolicy/],
  ['another version', LAB.replace('v1alpha1', 'v2'), '/documents/0/apiVersion', /mesh.internal\/v1alpha1/],
  ['another namespace', WEB_TO_DB.replace('prod', 'dev'), '/documents/0/metadata/namespace', /is prod/],
  ['no documents', '---\n---\n', '', /0 were sent/],
  ['no YAML', 'a: [', '', /./],
  ['a scalar', 'hello', '/documents/0', /./],
  ['a wrong block', LAB.replace('10.97.0.0/24', '10.97.0.9/24'), '/documents/0/spec/cidr', /first address/],
])('%s is refused whole, and nothing is written', async (_title, manifest, pointer, detail) => {
  await using prod = await openProd();
  const before = await revisionOf(prod.kit, prod.workspace);
  await expect(prod.call('apply_resources', { manifest: `${manifest}` })).rejects.toMatchObject({
    code: 'invalid_input',
    details: {
      errors: expect.arrayContaining([expect.objectContaining({ pointer, detail: expect.stringMatching(detail) })]),
    },
  });
  expect(await revisionOf(prod.kit, prod.workspace)).toBe(before);
});

test('text and objects together, or neither, are refused', async () => {
  await using prod = await openProd();
  for (const input of [{}, { manifest: LAB, documents: [] }]) {
    await expect(prod.call('apply_resources', input)).rejects.toMatchObject({ code: 'invalid_input' });
  }
});

test('writes at the same moment all arrive, or are refused as conflicts', async () => {
  await using prod = await openProd();
  const names = Array.from({ length: 30 }, (_, i) => `p${i % 10}`);
  const answers = await Promise.allSettled(
    names.map((name) => prod.call('create_policy', { name, spec: { action: 'DENY', peerSelector: {} } })),
  );
  const codes = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
  expect([codes.length, new Set(codes)]).toEqual([20, new Set(['conflict'])]);
});

test('whoever is named and nobody knows is told beside all other faults, each with its document and the nearest names', async () => {
  await using prod = await openProd();
  await join(prod.kit, prod.workspace, 'db-1');
  const HEAD = { apiVersion: 'mesh.internal/v1alpha1' };
  const policy = (name: string, spec: object) => ({
    ...HEAD,
    kind: 'MeshPolicy',
    metadata: { name },
    spec: { action: 'ALLOW', peerSelector: {}, ...spec },
  });
  const documents = [
    policy('one', { peerSelector: { peers: ['db-2', 'db-1'] }, action: 'MAYBE' }),
    policy('two', { network: 'labs', ingress: [{ from: [{ peerSelector: { notPeers: ['x'] } }] }] }),
    policy('three', { network: 'lab', peerSelector: { matchLabels: { 'a b': 'x', ok: 'not good', '-c': 'y' } } }),
    { ...HEAD, kind: 'MeshNetwork', metadata: { name: 'lab' }, spec: { cidr: '10.97.0.0/24' } },
    { ...HEAD, kind: 'MeshPeer', metadata: { name: 'db-9' }, spec: { network: 'nowhere' } },
    {
      ...HEAD,
      kind: 'AgentIdentity',
      metadata: { name: 'child' },
      spec: { parentRef: { name: 'nobody' }, ttl: '10m', policyPreset: 'sandboxed' },
    },
  ];
  const error = await prod.call('apply_resources', { documents }).catch((thrown: unknown) => thrown);
  const errors = (error as { details: { errors: { pointer: string; detail: string; document: { name: string } }[] } })
    .details.errors;
  expect(errors.map(({ pointer, document }) => `${document.name} ${pointer}`).sort()).toEqual([
    'child /documents/5/spec/parentRef/name',
    'db-9 /documents/4/metadata/name',
    'db-9 /documents/4/spec/network',
    'one /documents/0/spec/action',
    'one /documents/0/spec/peerSelector/peers/0',
    'three /documents/2/spec/peerSelector/matchLabels/-c',
    'three /documents/2/spec/peerSelector/matchLabels/a b',
    'three /documents/2/spec/peerSelector/matchLabels/ok',
    'two /documents/1/spec/ingress/0/from/0/peerSelector/notPeers/0',
    'two /documents/1/spec/network',
  ]);
  const detailAt = (end: string) => errors.find(({ pointer }) => pointer.endsWith(end))?.detail;
  expect(detailAt('/peers/0')).toMatch(/no peer "db-2".*Did you mean "db-1"/);
  expect(detailAt('/1/spec/network')).toMatch(/There are: .*lab/);
  expect(error).toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/^MeshPolicy one, \/documents\/0/),
  });
});

test('labels that are wrong are all named, whatever is wrong with each', async () => {
  await using prod = await openProd();
  await join(prod.kit, prod.workspace, 'db-1');
  const patch = (labels: object) => prod.call('update_peer', { id: 'db-1', labels });
  await expect(patch({ 'a b': 'x', ok: 'not good', '-c': 'y' })).rejects.toMatchObject({
    details: {
      errors: ['/labels/a b', '/labels/ok', '/labels/-c'].map((pointer) => ({
        pointer,
        detail: expect.stringMatching(/^a label (?:key|value) is 1 to 63/),
      })),
    },
  });
  await expect(patch({ 'mesh.internal/a': 'x', 'mesh.internal/b': 'y' })).rejects.toMatchObject({
    details: { errors: [{ pointer: '/labels/mesh.internal~1a' }, { pointer: '/labels/mesh.internal~1b' }] },
  });
});

test('faults that show only when the changes are planned are told of all documents too', async () => {
  await using prod = await openProd();
  const expired = (name: string) => ({
    apiVersion: 'mesh.internal/v1alpha1',
    kind: 'MeshPolicy',
    metadata: { name },
    spec: { action: 'DENY', peerSelector: {}, expiresAt: '2001-01-01T00:00:00Z' },
  });
  const documents = [expired('one'), expired('two')];
  await expect(prod.call('apply_resources', { documents })).rejects.toMatchObject({
    details: {
      errors: ['one', 'two'].map((name, index) => ({
        pointer: `/documents/${index}/spec/expiresAt`,
        document: { kind: 'MeshPolicy', name },
      })),
    },
  });
});

test('a fault of what a change has beside its spec points into its document, and a name given twice into both', async () => {
  await using prod = await openProd();
  const shut = (name: string, metadata: object = {}) => ({
    apiVersion: 'mesh.internal/v1alpha1',
    kind: 'MeshPolicy',
    metadata: { name, ...metadata },
    spec: { action: 'DENY', peerSelector: {} },
  });
  const pointersOf = async (...documents: object[]) => {
    const error = await prod.call('apply_resources', { documents }).catch((thrown: unknown) => thrown);
    return (error as { details: { errors: { pointer: string }[] } }).details.errors.map(({ pointer }) => pointer);
  };
  expect(await pointersOf(shut('a'), shut('b'), shut('A'))).toEqual([
    '/documents/0/metadata/name',
    '/documents/2/metadata/name',
  ]);
  expect(await pointersOf(shut('a'), shut('é'))).toEqual(['/documents/1/metadata/name']);
  expect(await pointersOf(shut('a', { labels: { 'mesh.internal/x': 'y' } }))).toEqual([
    '/documents/0/metadata/labels/mesh.internal~1x',
  ]);
});

test('a document of a device that is gone says which it is and what to do', async () => {
  await using prod = await openProd();
  const documents = [{ apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPeer', metadata: { name: 'laptop-7' } }];
  await expect(prod.call('apply_resources', { documents })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/^MeshPeer laptop-7, .*Where it is gone, delete its document/),
  });
});
