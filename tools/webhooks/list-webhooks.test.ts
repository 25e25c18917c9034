import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('the webhooks of the own workspace are listed without their secrets', async () => {
  await using kit = await buildWebhookKit();
  const { secret, ...made } = await kit.hook({ description: 'chat' });
  const listed = await kit.ask('list_webhooks');
  expect(listed).toEqual({ items: [made] });
  expect(JSON.stringify(listed)).not.toContain(secret);
  expect(await kit.foreign('list_webhooks')).toEqual({ items: [] });
});

test('a list of webhooks takes no limit above 200, and needs members:write', async () => {
  await using kit = await buildWebhookKit();
  expect(await refusalOf(kit.ask('list_webhooks', { limit: 201 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.as('auditor')('list_webhooks'))).toBe('forbidden members:write');
});
