import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const signatures = (headers: Readonly<Record<string, string>> = {}) => headers['webhook-signature']?.split(' ').length;

test('the secret before signs too, for a day', async () => {
  await using kit = await buildWebhookKit();
  const { id, secret } = await kit.hook();
  const rotated = await kit.ask('rotate_webhook_secret', { id });
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.oldSecretUntil).toBe('2026-01-06T12:00:00.000Z');
  for (const later of [0, 86_400_000]) {
    kit.clock.time += later;
    await kit.ask('test_webhook', { id });
    await kit.deliver();
  }
  expect(kit.received.map(({ headers }) => signatures(headers))).toEqual([2, 1]);
});

test('only administrators of the workspace rotate the secret', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  expect(await refusalOf(kit.foreign('rotate_webhook_secret', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('operator')('rotate_webhook_secret', { id }))).toBe('forbidden members:write');
  expect(await refusalOf(kit.holding('members:write')('rotate_webhook_secret', { id }))).toBe('forbidden');
});
