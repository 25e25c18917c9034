import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const HEAD = 'mesh.internal/v1alpha1';
const policy = (name: string, spec: object) => ({ apiVersion: HEAD, kind: 'MeshPolicy', metadata: { name }, spec });
const SHUT = { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{}] };
const KINDS = ['MeshPolicy', 'MeshNetwork'];

async function webAndDb() {
  const kit = await buildWorkspaceKit();
  await kit.join('web-1');
  await kit.join('db-1');
  await kit.ask('update_peer', { id: 'db-1', labels: { role: 'db' } });
  return kit;
}

test('a preview says what applying would write and which connections it closes, to who may only read, and writes nothing', async () => {
  await using kit = await webAndDb();
  const before = await kit.services.states.current(kit.workspace);
  const answer = await kit.as('viewer')('preview_resources', { documents: [policy('shut', SHUT)] });
  expect(answer).toMatchObject({
    items: [{ kind: 'MeshPolicy', name: 'shut', result: 'created' }],
    would_change: true,
    changes: [{ action: 'create', resource: 'MeshPolicy', name: 'shut', before: '' }],
    effect: {
      opened: [],
      closed_pairs: 1,
      closed: expect.arrayContaining([expect.objectContaining({ src: 'web-1' })]),
    },
    waits_for: [],
  });
  expect(answer.changes[0].after).toContain('name: shut');
  expect((await kit.services.states.current(kit.workspace)).revision).toBe(before.revision);
});

test('a preview of what is there already would change nothing', async () => {
  await using kit = await webAndDb();
  const documents = [policy('shut', SHUT)];
  await kit.ask('apply_resources', { documents });
  const answer = await kit.ask('preview_resources', { documents, prune: KINDS });
  expect(answer).toMatchObject({ would_change: false, changes: [], items: [{ result: 'unchanged' }] });
});

test('a preview says why a person would have to approve', async () => {
  await using kit = await webAndDb();
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const documents = [policy('shut', SHUT)];
  expect(await kit.ask('preview_resources', { documents })).toMatchObject({
    waits_for: ['the workspace has every change approved'],
  });
  expect(await kit.ask('preview_resources', { documents: [policy('shut', SHUT)], prune: [] })).toMatchObject({
    would_change: true,
  });
});

test('a preview refuses what applying refuses, with the same words', async () => {
  await using kit = await webAndDb();
  await kit.ask('create_assertion', { src: 'web-1', dst: 'db-1', expect: 'reachable' });
  const wrong = [
    { documents: [policy('shut', SHUT)] },
    { documents: [policy('far', { ...SHUT, network: 'nowhere' })] },
    { documents: [policy('who', { ...SHUT, peerSelector: { peers: ['web-9'] } })] },
    { documents: [] },
  ];
  for (const input of wrong) {
    const refusals = await Promise.all(
      ['preview_resources', 'apply_resources'].map((name) => refusalOf(kit.ask(name, input))),
    );
    expect(refusals[0]).toBe(refusals[1]);
    expect(refusals[0]).toMatch(/^(?:invalid_input|policy_assertion_failed)/);
  }
  expect(
    await refusalOf(kit.foreign('preview_resources', { documents: [policy('a', SHUT)], prune: ['MeshPeer'] })),
  ).toBe('invalid_input /prune/0');
});
