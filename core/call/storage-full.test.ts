import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const OPEN = { action: 'ALLOW', peerSelector: {}, ingress: [{}] };
const SHUT = { ...OPEN, action: 'DENY' };

test('while the disk fills, new records are refused first, then changes of those that are there, and deletions never', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'open', spec: OPEN });
  let left = 0.9;
  Object.assign(kit.gate, { isDiskFull: (share: number) => left < share });
  expect(await refusalOf(kit.ask('create_policy', { name: 'more', spec: OPEN }))).toBe('storage_full');
  expect(await kit.ask('update_policy', { id: 'open', spec: SHUT })).toMatchObject({ spec: { action: 'DENY' } });
  left = 0.4;
  expect(await refusalOf(kit.ask('update_policy', { id: 'open', spec: OPEN }))).toBe('storage_full');
  await kit.ask('delete_policy', { id: 'open' });
  expect((await kit.ask('list_policies')).items).toEqual([]);
});
