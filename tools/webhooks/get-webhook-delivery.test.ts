import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a delivery is shown with the JSON that is sent', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  const { id: deliveryId } = await kit.ask('test_webhook', { id });
  const { body } = await kit.ask('get_webhook_delivery', { id, deliveryId });
  const data = { workspace: kit.workspace, webhook: id, actor: 'user:admin' };
  expect(JSON.parse(body)).toEqual({ type: 'webhook.test', timestamp: '2026-01-05T12:00:00.000Z', data });
});

test('a delivery is found under its own webhook alone, and by administrators', async () => {
  await using kit = await buildWebhookKit();
  const [{ id }, other] = [await kit.hook(), await kit.hook()];
  const { id: deliveryId } = await kit.ask('test_webhook', { id });
  expect(await refusalOf(kit.ask('get_webhook_delivery', { id: other.id, deliveryId }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('get_webhook_delivery', { id, deliveryId }))).toBe('not_found');
  expect(await refusalOf(kit.holding('members:write')('get_webhook_delivery', { id, deliveryId }))).toBe('forbidden');
});
