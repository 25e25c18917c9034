import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const APART = { src: 'web-1', dst: 'db-1', expect: 'unreachable' };
const TOGETHER = { ...APART, expect: 'reachable' };

test('a new assertion holds, and a change that would break it is refused from then on', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  expect(await kit.ask('create_assertion', { name: 'db', ...TOGETHER })).toMatchObject({
    name: 'db',
    spec: TOGETHER,
    status: { holds: true, detail: null },
  });
  const spec = { action: 'DENY', peerSelector: {}, ingress: [{}] };
  expect(await refusalOf(kit.ask('create_policy', { name: 'shut', spec }))).toBe('policy_assertion_failed');
});

test('an assertion has to hold, to be whole and to have a name of its own, and needs network:write', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  await kit.ask('create_assertion', { name: 'db', ...TOGETHER });
  expect(await refusalOf(kit.ask('create_assertion', { name: 'no', ...APART }))).toBe('policy_assertion_failed');
  expect(await refusalOf(kit.ask('create_assertion', { name: 'db', ...TOGETHER }))).toBe('conflict');
  expect(await refusalOf(kit.ask('create_assertion', { name: 'x', src: 'web-1', expect: 'reachable' }))).toBe(
    'invalid_input /dst',
  );
  expect(await refusalOf(kit.as('viewer')('create_assertion', TOGETHER))).toBe('forbidden network:write');
});
