import { attemptDelivery } from '../../../core/webhooks/attempt.ts';
import { queueEvents } from '../../../core/webhooks/queue.ts';
import type { DeliveryRequest, SendResult, WebhookSender } from '../../../core/webhooks/sender.ts';
import { DueDeliveries } from '../../../plane/webhooks/due.ts';
import { buildWorkspaceKit, type WorkspaceKitOptions } from './workspace-kit.ts';

export const HOOK_URL = 'https://hooks.example.com/mesh';
export const ANSWERED: SendResult = { kind: 'answered', status: 204, text: '' };
export const FAILING: SendResult = { kind: 'answered', status: 500, text: 'out of order' };
export const DOWN: SendResult = { kind: 'failed', error: 'The request failed: ECONNREFUSED.' };

/** A workspace whose webhooks are sent when the test says so, to a receiver that answers as it is told. */
export async function buildWebhookKit(options: WorkspaceKitOptions = {}) {
  const kit = await buildWorkspaceKit(options);
  const { services, clock } = kit;
  const received: DeliveryRequest[] = [];
  const receiver = { answer: ANSWERED as SendResult | (() => Promise<SendResult>) };
  const sender: WebhookSender = {
    async send(outgoing) {
      received.push(outgoing);
      return typeof receiver.answer === 'function' ? receiver.answer() : receiver.answer;
    },
  };

  /** Queues what is in the log, and tries what is due by the clock. */
  async function deliver(workspace = kit.workspace): Promise<void> {
    await queueEvents(services, workspace, new Map());
    const due = new DueDeliveries();
    for (const delivery of (await services.store.list(workspace, 'WebhookDelivery')).items) due.note(delivery);
    for (let batch = due.take(clock.now()); batch.length > 0; batch = due.take(clock.now())) {
      for (const one of batch) {
        await attemptDelivery(services, sender, one, AbortSignal.timeout(30_000));
        const after = await services.store.get(one.workspace, { kind: 'WebhookDelivery', name: one.name });
        if (after) due.note(after);
        due.landed(one);
        if (!after) return;
      }
    }
  }

  return {
    ...kit,
    received,
    receiver,
    deliver,
    /** A webhook of this workspace that is told everything. */
    hook: (fields: Record<string, unknown> = {}) =>
      kit.ask('create_webhook', { url: HOOK_URL, events: ['*'], ...fields }),
    /** Types of what was sent, in order. */
    types: () => received.map(({ body }) => JSON.parse(body).type as string),
    deliveries: async (id: string, status?: string) =>
      (await kit.ask('list_webhook_deliveries', { id, limit: 200, ...(status && { status }) })).items,
  };
}
