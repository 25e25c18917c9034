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

test('a preview has the effect whole, by what changes alike, and says what ends and that a later apply leaves less of its time', async () => {
  await using kit = await webAndDb();
  const expiresAt = new Date(kit.clock.time + 3_600_000).toISOString();
  const answer = await kit.ask('preview_resources', { documents: [policy('shut', { ...SHUT, expiresAt })] });
  expect(answer).toMatchObject({
    connections: expect.arrayContaining([
      { change: 'closed', src: ['web-1'], dst: ['db-1'], ports: expect.stringContaining('everything') },
    ]),
    omitted_connections: 0,
    warnings: expect.arrayContaining([
      `shut ends at ${expiresAt.replace('.000', '')}: the later it is applied, the less of its time is left`,
    ]),
  });
  expect(answer.diff_markdown).toContain('shut ends at');
});

test('a change that waited for approval past its end fails, and says to plan it again', async () => {
  await using kit = await webAndDb();
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const expiresAt = new Date(kit.clock.time + 60_000).toISOString();
  const documents = [policy('shut', { ...SHUT, expiresAt })];
  const { workflow_id: id } = await kit.as('operator')('apply_resources', { documents });
  kit.clock.time += 60_000;
  expect(await kit.ask('approve_workflow', { id })).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/has passed: name a time that is to come. Where .* plan it again/),
  });
});

test('a preview says why a person would have to approve', async () => {
  await using kit = await webAndDb();
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const documents = [policy('shut', SHUT)];
  expect(await kit.ask('preview_resources', { documents })).toMatchObject({
    waits_for: ['creates the policy shut'],
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
