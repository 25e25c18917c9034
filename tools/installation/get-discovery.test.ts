import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('anyone is told where the services are, and no credential', async () => {
  await using kit = await buildWorkspaceKit();
  const found = await kit.call('get_discovery');
  expect(found).toMatchObject({ name: 'mesh', api: 'v1', edition: 'pro', signalingUrl: 'nats://127.0.0.1:4222' });
  expect(Buffer.from(found.controlKey, 'base64')).toHaveLength(32);
  expect(JSON.stringify(found)).not.toContain('relay-token');
});

test('a field that discovery does not take is refused by name', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.call('get_discovery', { workspace: 'own' }))).toBe('invalid_input /workspace');
});
