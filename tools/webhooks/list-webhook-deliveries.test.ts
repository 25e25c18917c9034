import { expect, test } from 'vitest';
import { ANSWERED, buildWebhookKit, FAILING } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('deliveries are listed newest first, page after page, and by their status', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  for (let sent = 0; sent < 3; sent++) {
    kit.receiver.answer = sent === 1 ? FAILING : ANSWERED;
    await kit.ask('test_webhook', { id });
    await kit.deliver();
    kit.clock.time += 1_000;
  }
  const { items, next_cursor } = await kit.ask('list_webhook_deliveries', { id, limit: 2 });
  expect(items).toMatchObject([
    { status: 'delivered', attempts: 1, responseStatus: 204, nextAttemptAt: null },
    { status: 'waiting', attempts: 1, responseStatus: 500, response: 'out of order' },
  ]);
  const rest = await kit.ask('list_webhook_deliveries', { id, limit: 2, cursor: next_cursor });
  expect(rest).toEqual({ items: [expect.objectContaining({ status: 'delivered' })] });
  expect(await kit.deliveries(id, 'waiting')).toHaveLength(1);
});

test('deliveries of another workspace are not listed, nor to agents', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  expect(await refusalOf(kit.foreign('list_webhook_deliveries', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ask('list_webhook_deliveries', { id, limit: 201 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.holding('members:write')('list_webhook_deliveries', { id }))).toBe('forbidden');
});
