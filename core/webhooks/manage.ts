import type { Caller } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import type { Secret } from '../base/secret.ts';
import { serialized } from '../base/serialize.ts';
import { formatInstant } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import type { Keyring } from '../model/services.ts';
import type { Owner } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import { deliveriesOf, requireCapacity } from './deliveries.ts';
import { subscriptionFault, TEST_EVENT } from './event-types.ts';
import { findWebhook, requireAdministrator } from './find-webhook.ts';
import { draftFor } from './queue.ts';
import { newSigningSecret, openSecret, sealSecret } from './secret.ts';
import { allowListOf, targetOf } from './target.ts';
import {
  type DeliveryRecord,
  MAX_WEBHOOKS,
  type SealedSecret,
  type WebhookRecord,
  type WebhookSpec,
  type WebhookStatus,
  webhookDraft,
} from './webhook-record.ts';

type Call = CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'settings'>>;

export interface WebhookFields {
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string;
  readonly enabled: boolean;
}

/** How long a secret that was replaced signs too. */
export const OLD_SECRET_MS = 86_400_000;
/** Secrets that sign at once: the newest, and those that it replaced within {@link OLD_SECRET_MS}. */
const MAX_SECRETS = 3;

/** The webhooks of a workspace, in the order in which they were made. */
export async function listWebhooks(context: Call): Promise<readonly WebhookRecord[]> {
  requireAdministrator(context);
  return (await context.services.store.list(context.workspace, 'Webhook')).items;
}

/** @throws MeshError `not_found` */
export async function getWebhook(context: Call, id: string): Promise<WebhookRecord> {
  requireAdministrator(context);
  return findWebhook(context.services, context.workspace, id);
}

/**
 * Makes a webhook, which is told what happens from now on. The answer is the only place where its secret is seen.
 *
 * @throws MeshError `invalid_input` for a URL or an event that is none; `conflict` where the workspace has its full number
 */
export async function createWebhook(
  context: Call,
  fields: WebhookFields,
): Promise<{ readonly record: WebhookRecord; readonly secret: Secret }> {
  const { services, workspace } = context;
  const { store, keys } = services;
  const caller = requireAdministrator(context);
  requireValid(services, fields);
  return serialized(store, workspace, async () => {
    const { items, revision } = await store.list(workspace, 'Webhook');
    if (items.length >= MAX_WEBHOOKS) {
      throw new MeshError('conflict', `A workspace has at most ${MAX_WEBHOOKS} webhooks: delete one that is not used.`);
    }
    const uid = newId('wh');
    const secret = newSigningSecret();
    const secrets = [{ sealed: sealSecret(keys, { webhook: uid, url: fields.url }, secret) }];
    const spec: WebhookSpec = { ...fields, secrets, createdBy: caller.subject, owner: ownerOf(caller) };
    const draft = webhookDraft(spec, { next: await store.auditTree(workspace).size() }, uid);
    const reason = `made a webhook to ${hostOf(fields.url)}`;
    const commit = commitContext(context, reason, { readSet: { groups: ['Webhook'], revision } });
    const done = await store.commit(workspace, [{ op: 'create', record: draft }], commit);
    return { record: writtenRecord(done, draft), secret };
  });
}

/** Changes the fields that are given. Enabled again, it is told what happens from then on. @throws MeshError as `createWebhook` */
export async function updateWebhook(
  context: Call,
  id: string,
  patch: { readonly [K in keyof WebhookFields]?: WebhookFields[K] | undefined },
): Promise<WebhookRecord> {
  const { services, workspace } = context;
  requireAdministrator(context);
  return serialized(services.store, workspace, async () => {
    const webhook = await findWebhook(services, workspace, id);
    const { url, events, description, enabled } = webhook.spec;
    const fields: WebhookFields = {
      url: patch.url ?? url,
      events: patch.events ?? events,
      description: patch.description ?? description,
      enabled: patch.enabled ?? enabled,
    };
    requireValid(services, fields);
    const isBegun = fields.enabled && !enabled;
    const status: WebhookStatus = isBegun ? { next: await services.store.auditTree(workspace).size() } : webhook.status;
    const secrets = sealedFor(services.keys, webhook, fields.url);
    return write(context, webhook, { ...webhook.spec, ...fields, secrets }, status, `changed the webhook ${id}`);
  });
}

/** Gives a webhook another secret. The old one signs too for a day, so that no receiver has to change at the same instant. */
export async function rotateWebhookSecret(
  context: Call,
  id: string,
): Promise<{ readonly record: WebhookRecord; readonly secret: Secret; readonly oldUntil: string }> {
  const { services, workspace } = context;
  requireAdministrator(context);
  return serialized(services.store, workspace, async () => {
    const webhook = await findWebhook(services, workspace, id);
    const now = services.clock.now();
    const until = now + OLD_SECRET_MS;
    const secret = newSigningSecret();
    const old = webhook.spec.secrets
      .filter((each) => each.until === undefined || each.until > now)
      .map((each) => ({ ...each, until: Math.min(each.until ?? until, until) }));
    const secrets = [
      { sealed: sealSecret(services.keys, { webhook: webhook.uid, url: webhook.spec.url }, secret) },
      ...old,
    ].slice(0, MAX_SECRETS);
    const spec = { ...webhook.spec, secrets };
    const record = await write(context, webhook, spec, webhook.status, `rotated the secret of the webhook ${id}`);
    return { record, secret, oldUntil: formatInstant(until) };
  });
}

/** Deletes a webhook with its deliveries. One that is under way is not waited for. */
export async function deleteWebhook(context: Call, id: string): Promise<void> {
  const { services, workspace } = context;
  const { store } = services;
  requireAdministrator(context);
  await serialized(store, workspace, async () => {
    const { name, uid, revision } = await findWebhook(services, workspace, id);
    const deliveries = await deliveriesOf(store, workspace, uid);
    const ops: Op[] = [
      { op: 'delete', key: { kind: 'Webhook', name }, revision },
      ...deliveries.map((delivery): Op => ({ op: 'delete', key: { kind: 'WebhookDelivery', name: delivery.name } })),
    ];
    await store.commit(workspace, ops, commitContext(context, `deleted the webhook ${id}`));
  });
}

/** Queues an event that says nothing but that it is a test. @throws MeshError `conflict` for a webhook that is disabled */
export async function testWebhook(context: Call, id: string): Promise<DeliveryRecord> {
  const { services, workspace } = context;
  const { store, clock } = services;
  const caller = requireAdministrator(context);
  return serialized(store, workspace, async () => {
    const { uid, spec } = await findWebhook(services, workspace, id);
    if (!spec.enabled) throw new MeshError('conflict', 'This webhook is disabled: enable it first.');
    const room = await requireCapacity(context, uid);
    const now = clock.now();
    const data = { workspace, webhook: uid, actor: caller.subject };
    const draft = draftFor(uid, { type: TEST_EVENT, timestamp: formatInstant(now), data }, now);
    const commit = commitContext(context, `tested the webhook ${id}`);
    return writtenRecord(await store.commit(workspace, [{ op: 'create', record: draft }, ...room], commit), draft);
  });
}

/** Whoever makes a webhook answers for it, and whoever changes one that has no owner. */
function ownerOf({ id, name }: Caller): Owner {
  return { id, name };
}

/** Its secrets, sealed for another URL; one that cannot be read stays so. */
function sealedFor(keys: Keyring, { uid, spec }: WebhookRecord, url: string): readonly SealedSecret[] {
  if (url === spec.url) return spec.secrets;
  return spec.secrets.map((each) => {
    const secret = openSecret(keys, { webhook: uid, url: spec.url }, each.sealed);
    return secret ? { ...each, sealed: sealSecret(keys, { webhook: uid, url }, secret) } : each;
  });
}

async function write(
  context: Call,
  webhook: WebhookRecord,
  spec: WebhookSpec,
  status: WebhookStatus,
  reason: string,
): Promise<WebhookRecord> {
  const owner = spec.owner ?? ownerOf(requireAdministrator(context));
  const record = { ...draftOf(webhook), spec: { ...spec, owner }, status };
  const op: Op = { op: 'update', record, revision: webhook.revision };
  const { services, workspace } = context;
  return writtenRecord(await services.store.commit(workspace, [op], commitContext(context, reason)), webhook);
}

function requireValid({ settings }: Call['services'], { url, events }: WebhookFields): void {
  const target = targetOf(url, allowListOf(settings.webhookAllow));
  const faults = [
    ...(typeof target === 'string' ? [{ pointer: '/url', detail: target }] : []),
    ...events.flatMap((event, index) => {
      const detail = subscriptionFault(event);
      return detail === undefined ? [] : [{ pointer: `/events/${index}`, detail }];
    }),
  ];
  if (faults.length > 0) throw invalidInput(faults);
}

/** Returns the host of a URL for the audit log, because paths and queries of webhooks often are secrets. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
