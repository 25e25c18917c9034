import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { Op, Store } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { writtenRecord } from '../base/written-record.ts';
import type { NetworkServices, StoreCall } from '../state/services.ts';
import { findWebhook, requireAdministrator } from './find-webhook.ts';
import {
  type DeliveryRecord,
  type DeliveryState,
  type DeliveryStatus,
  MAX_ENDED,
  MAX_WAITING,
} from './webhook-record.ts';

type Call = CallContext<Pick<NetworkServices, 'store' | 'clock'>>;

const PAGE = 200;

/** Every delivery of a webhook, the newest first. */
export async function deliveriesOf(
  store: Pick<Store, 'list'>,
  workspace: string,
  webhook: string,
): Promise<readonly DeliveryRecord[]> {
  const found: DeliveryRecord[] = [];
  // Ids have one length, so the names of one webhook stand together.
  for (let after = `${webhook}.`; ; ) {
    const { items } = await store.list(workspace, 'WebhookDelivery', { after, limit: PAGE });
    const own = items.filter(({ spec }) => spec.webhook === webhook);
    found.push(...own);
    after = items.at(-1)?.name ?? '';
    if (own.length < PAGE) return found;
  }
}

/** How many more may wait, and what makes room for them: more than are kept are removed where others are added. */
export interface DeliveryCapacity {
  readonly left: number;
  /** Removes those that are over beyond {@link MAX_ENDED}, the oldest; to be written with what is added. */
  readonly ops: readonly Op[];
}

/** Costs a reading of all that are kept, which is bounded by what it removes. */
export async function deliveryCapacityOf(
  store: Pick<Store, 'list'>,
  workspace: string,
  webhook: string,
): Promise<DeliveryCapacity> {
  const all = await deliveriesOf(store, workspace, webhook);
  const ended = all.filter(({ status }) => status.state !== 'waiting');
  const ops = ended.slice(MAX_ENDED, MAX_ENDED + MAX_REMOVED).map(({ name, revision }): Op => {
    return { op: 'delete', key: { kind: 'WebhookDelivery', name }, revision };
  });
  return { left: MAX_WAITING - (all.length - ended.length), ops };
}

/** More than one commit adds. */
const MAX_REMOVED = 2 * MAX_WAITING;

export interface DeliveryQuery {
  readonly state?: DeliveryState | undefined;
  /** Name of the last one already seen. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listDeliveries(
  context: StoreCall,
  id: string,
  { state, cursor, limit }: DeliveryQuery,
): Promise<{ readonly items: readonly DeliveryRecord[]; readonly next?: string }> {
  const { services, workspace } = context;
  requireAdministrator(context);
  const { uid } = await findWebhook(services, workspace, id);
  const all = (await deliveriesOf(services.store, workspace, uid)).filter(
    ({ name, status }) => (state === undefined || status.state === state) && (cursor === undefined || name > cursor),
  );
  const last = all.length > limit ? all[limit - 1]?.name : undefined;
  return { items: all.slice(0, limit), ...(last !== undefined && { next: last }) };
}

/** @throws MeshError `not_found` */
export async function getDelivery(context: StoreCall, id: string, deliveryId: string): Promise<DeliveryRecord> {
  requireAdministrator(context);
  const { services, workspace } = context;
  const { uid } = await findWebhook(services, workspace, id);
  const delivery = await services.store.getById(workspace, 'WebhookDelivery', deliveryId);
  if (delivery?.spec.webhook === uid) return delivery;
  throw new MeshError(
    'not_found',
    `There is no delivery ${deliveryId} of this webhook: list_webhook_deliveries shows them.`,
  );
}

/**
 * Sends a delivery again that is over: at once, with the same id, and as often as a new one.
 *
 * @throws MeshError `not_found`; `conflict` while it waits or its webhook is disabled
 */
export async function resendDelivery(context: Call, id: string, deliveryId: string): Promise<DeliveryRecord> {
  const { services, workspace } = context;
  return serialized(services.store, workspace, async () => {
    const delivery = await getDelivery(context, id, deliveryId);
    await requireEnabled(context, id);
    if (delivery.status.state === 'waiting') {
      throw new MeshError('conflict', 'This delivery waits for its next attempt: only one that is over is sent again.');
    }
    await requireCapacity(context, delivery.spec.webhook);
    const reason = `sent the delivery ${delivery.uid} again`;
    const commit = await services.store.commit(
      workspace,
      [resendOp(services, delivery)],
      commitContext(context, reason),
    );
    return writtenRecord(commit, delivery);
  });
}

/**
 * Sends all again that have died since an instant.
 *
 * @param since milliseconds
 * @returns how many; those that there is no room for stay dead
 */
export async function resendDead(
  context: Call,
  id: string,
  since: number,
): Promise<{ readonly resent: number; readonly left: number }> {
  requireAdministrator(context);
  const { services, workspace } = context;
  const { store } = services;
  return serialized(store, workspace, async () => {
    const { uid } = await requireEnabled(context, id);
    const all = await deliveriesOf(store, workspace, uid);
    const dead = all.filter(({ status }) => status.state === 'dead' && (status.endedAt ?? 0) >= since);
    const room = MAX_WAITING - all.filter(({ status }) => status.state === 'waiting').length;
    // The oldest first: what is left is named by a later instant.
    const chosen = dead.toReversed().slice(0, Math.max(0, room));
    const ops = chosen.map((delivery) => resendOp(services, delivery));
    if (ops.length > 0)
      await store.commit(workspace, ops, commitContext(context, `sent ${ops.length} deliveries again`));
    return { resent: ops.length, left: dead.length - ops.length };
  });
}

/** @returns what is to be written with one more. @throws MeshError `conflict` where too many wait */
export async function requireCapacity({ services, workspace }: Call, webhook: string): Promise<readonly Op[]> {
  const { left, ops } = await deliveryCapacityOf(services.store, workspace, webhook);
  if (left >= 1) return ops;
  throw new MeshError(
    'conflict',
    `${MAX_WAITING - left} deliveries of this webhook wait already: wait until they are over.`,
  );
}

async function requireEnabled({ services, workspace }: StoreCall, id: string) {
  const webhook = await findWebhook(services, workspace, id);
  if (webhook.spec.enabled) return webhook;
  throw new MeshError('conflict', 'This webhook is disabled: enable it first.');
}

function resendOp({ clock }: Call['services'], delivery: DeliveryRecord): Op {
  const status: DeliveryStatus = { state: 'waiting', attempts: 0, nextAt: clock.now() };
  return { op: 'update', record: { ...draftOf(delivery), status }, revision: delivery.revision };
}
