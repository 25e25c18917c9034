import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a webhook of another workspace is not found, and agents see none', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  expect(await kit.ask('get_webhook', { id })).toMatchObject({ id, disabledReason: null });
  expect(await refusalOf(kit.foreign('get_webhook', { id }))).toBe('not_found');
  expect(await refusalOf(kit.holding('members:write')('get_webhook', { id }))).toBe('forbidden');
});
