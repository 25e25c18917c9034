import { newId } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf, type RecordKey } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import type { BaseServices } from '../model/services.ts';
import { headersOf } from './message.ts';
import { FAILING_DAYS, nextAttemptAt } from './retry.ts';
import { openSecret } from './secret.ts';
import type { SendResult, WebhookSender } from './sender.ts';
import type { DeliveryRecord, DeliveryStatus, WebhookRecord } from './webhook-record.ts';

type AttemptServices = Pick<BaseServices, 'store' | 'clock' | 'keys' | 'settings'>;

const DAY_MS = 86_400_000;
const GONE = 410;

/**
 * Tries a delivery that is due, and writes what came of it. A crash between the two has it tried again, with the same
 * `webhook-id`. What a signal aborts is not written.
 *
 * @param name of the delivery
 */
export async function attemptDelivery(
  services: AttemptServices,
  sender: WebhookSender,
  { workspace, name }: { readonly workspace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = services;
  const key: RecordKey<'WebhookDelivery'> = { kind: 'WebhookDelivery', name };
  const delivery = await store.get(workspace, key);
  if (delivery?.status.state !== 'waiting') return;
  const webhook = await store.getById(workspace, 'Webhook', delivery.spec.webhook);
  const sent = webhook?.spec.enabled ? await send(services, sender, webhook, delivery, signal) : undefined;
  await serialized(store, workspace, async () => {
    const [now, owner] = await Promise.all([
      store.get(workspace, key),
      store.getById(workspace, 'Webhook', delivery.spec.webhook),
    ]);
    if (now?.status.state !== 'waiting') return;
    const ops = owner ? outcome(now, owner, sent, clock.now()) : [{ op: 'delete', key } as const];
    await store.commit(workspace, ops, context());
  });
}

async function send(
  { clock, keys, settings }: AttemptServices,
  sender: WebhookSender,
  { uid, spec }: WebhookRecord,
  delivery: DeliveryRecord,
  signal: AbortSignal,
): Promise<SendResult> {
  const at = clock.now();
  const valid = spec.secrets.filter(({ until }) => until === undefined || until > at);
  const secrets = valid.flatMap(({ sealed }) => openSecret(keys, { webhook: uid, url: spec.url }, sealed) ?? []);
  if (secrets.length === 0) {
    const error =
      'Its secret cannot be read: the keys of this control plane are others, or its URL was changed in the database. Check the URL, and rotate the secret of the webhook.';
    return { kind: 'failed', error };
  }
  const { body } = delivery.spec;
  const headers = { ...headersOf({ id: delivery.uid, body, at }, secrets), 'user-agent': `Mesh/${settings.version}` };
  return sender.send({ url: spec.url, headers, body }, signal);
}

/** Returns the writes that record an attempt on its delivery and webhook; without `sent` the webhook is disabled. */
function outcome(
  delivery: DeliveryRecord,
  webhook: WebhookRecord,
  sent: SendResult | undefined,
  now: number,
): readonly Op[] {
  const write = (status: DeliveryStatus): Op => {
    return { op: 'update', record: { ...draftOf(delivery), status }, revision: delivery.revision };
  };
  const { attempts: before } = delivery.status;
  if (!sent) {
    const error = 'The webhook was disabled before this could be sent.';
    return [write({ state: 'dead', attempts: before, error, endedAt: now })];
  }
  const attempts = before + 1;
  const answer = answerIn(sent);
  const tried = { attempts, lastAt: now, ...answer };
  if (isSuccess(sent)) {
    const { failingSince, ...status } = webhook.status;
    const ops = [write({ state: 'delivered', ...tried, endedAt: now })];
    return failingSince === undefined ? ops : [...ops, webhookOp(webhook, webhook.spec, status)];
  }
  const disabled = disabledBy(sent, webhook, now);
  const retryAfter = sent.kind === 'answered' ? sent.retryAfterMs : undefined;
  const nextAt = disabled === undefined ? nextAttemptAt(delivery.uid, attempts, now, retryAfter) : undefined;
  const failed = write(
    nextAt === undefined ? { state: 'dead', ...tried, endedAt: now } : { state: 'waiting', ...tried, nextAt },
  );
  const { failingSince = now } = webhook.status;
  if (disabled !== undefined && webhook.spec.enabled) {
    const status = { ...webhook.status, failingSince, disabled: { at: now, reason: disabled } };
    return [failed, webhookOp(webhook, { ...webhook.spec, enabled: false }, status)];
  }
  if (webhook.status.failingSince !== undefined) return [failed];
  return [failed, webhookOp(webhook, webhook.spec, { ...webhook.status, failingSince })];
}

function webhookOp(webhook: WebhookRecord, spec: WebhookRecord['spec'], status: WebhookRecord['status']): Op {
  return { op: 'update', record: { ...draftOf(webhook), spec, status }, revision: webhook.revision };
}

function isSuccess(sent: SendResult): boolean {
  return sent.kind === 'answered' && sent.status >= 200 && sent.status < 300;
}

/** Why a webhook is disabled after a failed attempt; undefined where it goes on. */
function disabledBy(sent: SendResult, { status }: WebhookRecord, now: number): string | undefined {
  if (sent.kind === 'answered' && sent.status === GONE) return 'The receiver answered 410 Gone.';
  if (now - (status.failingSince ?? now) < FAILING_DAYS * DAY_MS) return undefined;
  return `No delivery came through for ${FAILING_DAYS} days.`;
}

function answerIn(sent: SendResult): Pick<DeliveryStatus, 'responseStatus' | 'response' | 'error'> {
  if (sent.kind === 'failed') return { error: sent.error };
  const { status, text } = sent;
  const isRedirect = status >= 300 && status < 400;
  const error = isRedirect ? 'Redirects are not followed: give the webhook the URL that answers.' : undefined;
  return { responseStatus: status, ...(text !== '' && { response: text }), ...(error !== undefined && { error }) };
}

function context(): CommitContext {
  return { actor: 'system:webhooks', reason: 'tried a delivery of a webhook', requestId: newId('r') };
}
