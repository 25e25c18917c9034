import { expect, test } from 'vitest';
import { ANSWERED, buildWebhookKit, FAILING } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const HOUR = 3_600_000;
const GONE = { ...FAILING, status: 410 };

test('what has died since an instant is sent again, and nothing else', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  for (let sent = 0; sent < 2; sent++) {
    kit.receiver.answer = GONE;
    await kit.ask('test_webhook', { id });
    await kit.deliver();
    kit.clock.time += HOUR;
    await kit.ask('update_webhook', { id, enabled: true });
  }
  const dead = await kit.deliveries(id, 'dead');
  expect(dead).toHaveLength(2);
  const since = dead[0].lastAttemptAt;
  expect(await kit.ask('resend_dead_deliveries', { id, since })).toEqual({ resent: 1, left: 0 });
  kit.receiver.answer = ANSWERED;
  await kit.deliver();
  expect(await kit.deliveries(id, 'delivered')).toMatchObject([{ id: dead[0].id, attempts: 1 }]);
});

test('only administrators of the workspace send dead deliveries again', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  const since = '2026-01-01T00:00:00Z';
  expect(await refusalOf(kit.ask('resend_dead_deliveries', { id, since: 'the other day' }))).toBe(
    'invalid_input /since',
  );
  expect(await refusalOf(kit.foreign('resend_dead_deliveries', { id, since }))).toBe('not_found');
  expect(await refusalOf(kit.holding('members:write')('resend_dead_deliveries', { id, since }))).toBe('forbidden');
});
