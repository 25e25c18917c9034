import { expect, test } from 'vitest';
import { buildWebhookKit, HOOK_URL } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a webhook is made with a secret that is shown this once', async () => {
  await using kit = await buildWebhookKit();
  const { secret, ...made } = await kit.ask('create_webhook', { url: HOOK_URL, events: ['workflow.*'] });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(made).toMatchObject({ url: HOOK_URL, events: ['workflow.*'], enabled: true, failingSince: null });
  expect(await kit.ask('get_webhook', { id: made.id })).toEqual(made);
});

test.each([
  ['http://hooks.example.com/', ['*'], 'invalid_input /url'],
  ['https://ada:secret@hooks.example.com/', ['*'], 'invalid_input /url'],
  ['https://169.254.169.254/latest', ['*'], 'invalid_input /url'],
  ['https://0x7f.1/', ['*'], 'invalid_input /url'],
  ['no URL', ['*'], 'invalid_input /url'],
  [HOOK_URL, ['workflow.pendin'], 'invalid_input /events/0'],
  [HOOK_URL, [], 'invalid_input /events'],
])('a webhook to %s with the events %j is refused: %s %s', async (url, events, refusal) => {
  await using kit = await buildWebhookKit();
  expect(await refusalOf(kit.ask('create_webhook', { url, events }))).toBe(refusal);
});

test('an unknown event is told with the one that was meant', async () => {
  await using kit = await buildWebhookKit();
  const asked = kit.ask('create_webhook', { url: HOOK_URL, events: ['workflow.pendin'] });
  await expect(asked).rejects.toThrow('Did you mean workflow.pending?');
});

test('a workspace has at most ten webhooks', async () => {
  await using kit = await buildWebhookKit();
  for (let made = 0; made < 10; made++) await kit.hook();
  expect(await refusalOf(kit.hook())).toBe('conflict');
});

test('operators make no webhooks, and agents do not with any scope', async () => {
  await using kit = await buildWebhookKit();
  const asked = { url: HOOK_URL, events: ['*'] };
  expect(await refusalOf(kit.as('operator')('create_webhook', asked))).toBe('forbidden members:write');
  expect(await refusalOf(kit.holding('members:write', 'network:read')('create_webhook', asked))).toBe('forbidden');
});
