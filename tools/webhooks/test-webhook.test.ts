import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a test is sent to one webhook, whatever it subscribes', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook({ events: ['peer.online'] });
  await kit.hook();
  const { id: delivery, status } = await kit.ask('test_webhook', { id });
  expect(status).toBe('waiting');
  await kit.deliver();
  expect(kit.types()).toEqual(['webhook.test']);
  expect(kit.received[0]?.headers).toMatchObject({ 'webhook-id': delivery, 'content-type': 'application/json' });
});

test('a disabled webhook is not tested, nor one of another workspace', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook({ enabled: false });
  expect(await refusalOf(kit.ask('test_webhook', { id }))).toBe('conflict');
  expect(await refusalOf(kit.foreign('test_webhook', { id }))).toBe('not_found');
  expect(await refusalOf(kit.holding('members:write')('test_webhook', { id }))).toBe('forbidden');
});
