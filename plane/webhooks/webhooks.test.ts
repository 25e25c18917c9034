import { expect, test } from 'vitest';
import type { DeliveryRequest, SendResult, WebhookSender } from '../../core/webhooks/sender.ts';
import { switchedLeadership } from '../../test/kits/plane/switched-leadership.ts';
import { buildWorkspaceKit } from '../../test/kits/plane/workspace-kit.ts';
import { startWebhooks } from './webhooks.ts';

const ANSWERED: SendResult = { kind: 'answered', status: 200, text: 'ok' };
const slow = 'https://slow.example.com/';
const fast = 'https://fast.example.com/';

async function startKit() {
  const kit = await buildWorkspaceKit();
  const received: DeliveryRequest[] = [];
  const sender: WebhookSender = {
    send(outgoing, signal) {
      received.push(outgoing);
      if (outgoing.url !== slow) return Promise.resolve(ANSWERED);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  return { ...kit, received, sender, to: (url: string) => received.filter((one) => one.url === url).length };
}

test('an event is sent as soon as it is committed, and to a webhook made before the start too', async () => {
  await using kit = await startKit();
  const { id } = await kit.ask('create_webhook', { url: fast, events: ['network.*'] });
  await kit.ask('create_network', { name: 'before', spec: { cidr: '10.97.0.0/24' } });
  const webhooks = startWebhooks(kit.services, kit.sender);
  try {
    await expect.poll(() => kit.received.length).toBe(1);
    await kit.ask('create_network', { name: 'after', spec: { cidr: '10.98.0.0/24' } });
    await expect.poll(() => kit.received.length).toBe(2);
    const statuses = async () =>
      (await kit.ask('list_webhook_deliveries', { id })).items.map(({ status }: { status: string }) => status);
    await expect.poll(statuses).toEqual(['delivered', 'delivered']);
  } finally {
    await webhooks.stop();
  }
});

test('an endpoint that never answers holds up no other, and its deliveries wait for the next start', async () => {
  await using kit = await startKit();
  const { id } = await kit.ask('create_webhook', { url: slow, events: ['*'] });
  await kit.ask('create_webhook', { url: fast, events: ['*'] });
  const webhooks = startWebhooks(kit.services, kit.sender);
  try {
    for (let made = 0; made < 10; made++) {
      await kit.ask('create_network', { name: `lab-${made}`, spec: { cidr: `10.${100 + made}.0.0/24` } });
    }
    await expect.poll(() => kit.to(fast)).toBe(10);
    expect(kit.to(slow)).toBe(4);
  } finally {
    await webhooks.stop();
  }
  const { items } = await kit.ask('list_webhook_deliveries', { id });
  expect(items.map(({ status, attempts }: { status: string; attempts: number }) => [status, attempts])).toEqual(
    Array.from({ length: 10 }, () => ['waiting', 0]),
  );
});

test('of two control planes the one that leads sends an event, and after a change the other one the next, each once', async () => {
  await using kit = await startKit();
  const { id } = await kit.ask('create_webhook', { url: fast, events: ['network.*'] });
  const sentBy: string[] = [];
  const planeOf = (name: string, leads: boolean) => {
    const leadership = switchedLeadership(leads);
    const send = async () => {
      sentBy.push(name);
      return ANSWERED;
    };
    return { leadership, webhooks: startWebhooks(kit.services, { send }, leadership) };
  };
  const [first, second] = [planeOf('first', true), planeOf('second', false)];
  const delivered = async () =>
    (await kit.ask('list_webhook_deliveries', { id })).items.filter(
      ({ status }: { status: string }) => status === 'delivered',
    ).length;
  try {
    await kit.ask('create_network', { name: 'before', spec: { cidr: '10.97.0.0/24' } });
    await expect.poll(delivered).toBe(1);
    expect(sentBy).toEqual(['first']);
    await first.leadership.set(false);
    await second.leadership.set(true);
    await kit.ask('create_network', { name: 'after', spec: { cidr: '10.98.0.0/24' } });
    await expect.poll(delivered).toBe(2);
  } finally {
    await Promise.all([first.webhooks.stop(), second.webhooks.stop()]);
  }
  expect(sentBy).toEqual(['first', 'second']);
});
