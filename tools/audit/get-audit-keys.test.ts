import { expect, test } from 'vitest';
import { openCheckpoint } from '../../core/audit/checkpoint.ts';
import { buildWorkspaceKit } from '../../test/kits/plane/workspace-kit.ts';

test('anyone is given the public keys and the name under which they sign the log of a workspace', async () => {
  await using kit = await buildWorkspaceKit();
  const { originPrefix, items } = await kit.call('get_audit_keys');
  const from = '1970-01-01T00:00:00.000Z';
  const fingerprint = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(items).toEqual([{ publicKey: expect.any(String), fingerprint, from, until: null, endorsement: null }]);
  const key = { name: `${originPrefix}${kit.workspace}`, publicKey: Buffer.from(items[0].publicKey, 'base64') };
  const { note } = await kit.ask('get_audit_checkpoint');
  expect(openCheckpoint(note, [key])).toBeDefined();
  expect(JSON.stringify(items)).not.toContain('PRIVATE');
});
