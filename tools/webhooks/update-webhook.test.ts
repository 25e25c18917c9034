import { expect, test } from 'vitest';
import { buildWebhookKit } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a webhook keeps the fields that are not sent', async () => {
  await using kit = await buildWebhookKit();
  const { secret: _, ...made } = await kit.hook({ description: 'chat' });
  const changed = await kit.ask('update_webhook', { id: made.id, events: ['policy.*'] });
  expect(changed).toEqual({ ...made, events: ['policy.*'] });
});

test('a webhook that is enabled again is told what happens from then on', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook({ enabled: false });
  await kit.ask('create_network', { name: 'before', spec: { cidr: '10.97.0.0/24' } });
  await kit.ask('update_webhook', { id, enabled: true });
  await kit.ask('create_network', { name: 'after', spec: { cidr: '10.98.0.0/24' } });
  await kit.deliver();
  expect(kit.received.map(({ body }) => JSON.parse(body).data.items[0].name)).toEqual(['after']);
});

test('a webhook is not moved to an address of the inside, nor by who may not', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  expect(await refusalOf(kit.ask('update_webhook', { id, url: 'https://[::1]/' }))).toBe('invalid_input /url');
  expect(await refusalOf(kit.foreign('update_webhook', { id, enabled: false }))).toBe('not_found');
  expect(await refusalOf(kit.as('operator')('update_webhook', { id }))).toBe('forbidden members:write');
  expect(await refusalOf(kit.holding('members:write')('update_webhook', { id }))).toBe('forbidden');
});
