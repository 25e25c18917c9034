import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a webhook is deleted with its deliveries', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  await kit.ask('test_webhook', { id });
  expect(await kit.ask('delete_webhook', { id })).toEqual({ deleted: true });
  expect(await refusalOf(kit.ask('get_webhook', { id }))).toBe('not_found');
  expect((await kit.services.store.list(kit.workspace, 'WebhookDelivery')).items).toEqual([]);
});

test('a webhook of another workspace is not deleted, nor by an agent', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  expect(await refusalOf(kit.foreign('delete_webhook', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('delete_webhook', { id }))).toBe('forbidden members:write');
  expect(await refusalOf(kit.holding('members:write')('delete_webhook', { id }))).toBe('forbidden');
});
