import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a delivery that is over is sent again with its id', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  const { id: deliveryId } = await kit.ask('test_webhook', { id });
  expect(await refusalOf(kit.ask('resend_webhook_delivery', { id, deliveryId }))).toBe('conflict');
  await kit.deliver();
  expect(await kit.ask('resend_webhook_delivery', { id, deliveryId })).toMatchObject({
    status: 'waiting',
    attempts: 0,
  });
  await kit.deliver();
  expect(kit.received.map(({ headers }) => headers['webhook-id'])).toEqual([deliveryId, deliveryId]);
});

test('only administrators of the workspace send again', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  const { id: deliveryId } = await kit.ask('test_webhook', { id });
  expect(await refusalOf(kit.foreign('resend_webhook_delivery', { id, deliveryId }))).toBe('not_found');
  expect(await refusalOf(kit.holding('members:write')('resend_webhook_delivery', { id, deliveryId }))).toBe(
    'forbidden',
  );
});
