import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };

test('a policy is replaced as a whole, and keeps labels that are not sent', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.ask('create_policy', { name: 'shut', spec: SHUT, labels: { team: 'a' } });
  const spec = { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } }, egress: [{}] };
  const updated = await kit.ask('update_policy', { id, spec });
  expect(updated).toMatchObject({ id, generation: 2, spec, labels: { team: 'a' } });
  expect(updated.spec).not.toHaveProperty('ingress');
});

test('a policy is replaced where it is, as it was seen, by who has network:write', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, revision } = await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  const spec = { ...SHUT, egress: [{}] };
  expect(await refusalOf(kit.ask('update_policy', { id, spec, revision: revision - 1 }))).toBe('conflict');
  expect(await refusalOf(kit.ask('update_policy', { id, spec: { ...SHUT, action: 'NO' } }))).toBe(
    'invalid_input /spec/action',
  );
  expect(await refusalOf(kit.foreign('update_policy', { id, spec }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('update_policy', { id, spec }))).toBe('forbidden network:write');
});
