import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ANSWERED, buildWebhookKit, DOWN, FAILING } from '../../test/kits/plane/webhook-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { draftOf } from '../base/record.ts';
import { Secret } from '../base/secret.ts';
import { headersOf } from './message.ts';
import type { DeliveryRequest } from './sender.ts';
import { removeOldDeliveries } from './upkeep.ts';
import { deliveryDraft, MAX_ENDED } from './webhook-record.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The schedule, with the most that is added to each step. */
const STEPS = [5 * SECOND, 5 * MINUTE, 0.5 * HOUR, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const MOST_ADDED = 1.2;

const DENY = { action: 'DENY', peerSelector: {} };

test('what happens is told by its type, with what to read and where', async () => {
  await using kit = await buildWebhookKit();
  await kit.hook({ events: ['policy.*', 'peer.created'] });
  const { id } = await kit.ask('create_policy', { name: 'base', spec: DENY });
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  await kit.ask('delete_policy', { id });
  await kit.join('web-1');
  await kit.deliver();
  expect(kit.types()).toEqual(['policy.created', 'policy.deleted', 'peer.created']);
  const { data, timestamp } = JSON.parse(kit.received[0]?.body ?? '');
  expect(timestamp).toBe('2026-01-05T12:00:00.000Z');
  expect(data).toEqual({
    workspace: kit.workspace,
    revision: expect.any(Number),
    actor: 'user:admin',
    reason: expect.stringContaining('base'),
    items: [{ kind: 'MeshPolicy', name: 'base', id, url: `http://127.0.0.1:18090/api/v1/policies/${id}` }],
    count: 1,
    omitted: 0,
  });
});

test('an approval that waits is told with its title, risk, effect and where to review it', async () => {
  await using kit = await buildWebhookKit();
  await kit.join('web-1');
  await kit.join('db-1');
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  await kit.hook({ events: ['workflow.*'] });
  const asked = await kit.as('operator')('create_policy', { name: 'shut', spec: { ...DENY, ingress: [{}] } });
  await kit.ask('reject_workflow', { id: asked.workflow_id });
  await kit.deliver();
  expect(kit.types()).toEqual(['workflow.pending', 'workflow.rejected']);
  expect(JSON.parse(kit.received[0]?.body ?? '').data).toMatchObject({
    id: asked.workflow_id,
    title: expect.stringMatching(/closes/),
    status: 'pending',
    risk: expect.stringMatching(/^(low|medium|high|critical)$/),
    opened_pairs: 0,
    closed_pairs: 2,
    requested_by: 'user:operator',
    review_url: `http://127.0.0.1:18090/#/workflows/${asked.workflow_id}`,
  });
});

test('agents that end, snapshots and assessments are told', async () => {
  await using kit = await buildWebhookKit();
  await kit.hook({ events: ['agent.*', 'snapshot.created', 'assessment.*'] });
  const { id } = await kit.ask('create_agent', { name: 'planner' });
  await kit.ask('revoke_agent', { id });
  await kit.ask('take_snapshot');
  await kit.ask('assess_compliance', { framework: 'pci-dss', period_start: '2026-01-01T00:00:00Z' });
  await kit.deliver();
  expect(kit.types()).toEqual(
    expect.arrayContaining(['agent.created', 'agent.ended', 'snapshot.created', 'assessment.created']),
  );
});

test('a control that an assessment judges otherwise than the one before is told, with from what to what', async () => {
  await using kit = await buildWebhookKit();
  await kit.hook({ events: ['compliance.*'] });
  const assess = async () => {
    kit.clock.time += MINUTE;
    return kit.ask('assess_compliance', {
      framework: 'pci-dss',
      period_start: new Date(kit.clock.time - 1).toISOString(),
    });
  };
  await assess();
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  const { evidence_id } = await assess();
  await kit.deliver();
  expect(new Set(kit.types())).toEqual(new Set(['compliance.drift']));
  const told = kit.received.map(({ body }) => JSON.parse(body).data);
  expect(told.filter(({ detail }) => detail.control === 'PCI-DSS-1.2')).toEqual([
    {
      workspace: kit.workspace,
      actor: 'user:admin',
      result: 'ok',
      detail: { framework: 'pci-dss', control: 'PCI-DSS-1.2', from: 'fail', to: 'pass', evidence_id, cause: null },
    },
  ]);
});

test('what was refused is told to nobody', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  expect(await refusalOf(kit.ask('create_network', { name: 'lab', spec: { cidr: '10.98.0.0/24' } }))).toBe('conflict');
  await kit.deliver();
  expect(kit.types()).toEqual(['network.created']);
  expect(await kit.deliveries(id)).toHaveLength(1);
});

test('an endpoint that was down gets what it missed once it is up, once, with the same id', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  kit.receiver.answer = DOWN;
  await kit.ask('test_webhook', { id });
  await kit.deliver();
  await kit.deliver();
  expect(await kit.deliveries(id)).toMatchObject([
    { status: 'waiting', attempts: 1, error: DOWN.kind === 'failed' && DOWN.error },
  ]);
  expect(await kit.ask('get_webhook', { id })).toMatchObject({ failingSince: '2026-01-05T12:00:00.000Z' });
  kit.receiver.answer = ANSWERED;
  kit.clock.time += 6 * SECOND;
  await kit.deliver();
  await kit.deliver();
  const ids = kit.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([ids[0], ids[0]]);
  expect(await kit.deliveries(id)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  expect(await kit.ask('get_webhook', { id })).toMatchObject({ failingSince: null });
});

test('a delivery that fails is tried ten times on the schedule, and is dead then', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  kit.receiver.answer = FAILING;
  await kit.ask('test_webhook', { id });
  const waits: number[] = [];
  for (;;) {
    await kit.deliver();
    const [delivery] = await kit.deliveries(id);
    if (delivery.status === 'dead') break;
    const next = Date.parse(delivery.nextAttemptAt);
    waits.push(next - kit.clock.time);
    kit.clock.time = next - 1;
    await kit.deliver();
    expect(kit.received).toHaveLength(waits.length);
    kit.clock.time = next;
  }
  expect(kit.received).toHaveLength(10);
  expect(waits).toHaveLength(STEPS.length);
  for (const [index, step] of STEPS.entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(step);
    expect(waits[index]).toBeLessThanOrEqual(step * MOST_ADDED);
  }
  const [dead] = await kit.deliveries(id, 'dead');
  expect(dead).toMatchObject({ attempts: 10, responseStatus: 500, response: 'out of order', nextAttemptAt: null });
  kit.receiver.answer = ANSWERED;
  await kit.ask('resend_webhook_delivery', { id, deliveryId: dead.id });
  await kit.deliver();
  expect(await kit.deliveries(id)).toMatchObject([{ id: dead.id, status: 'delivered', attempts: 1 }]);
});

test.each([
  [60 * SECOND, 60 * SECOND],
  [400 * HOUR, 24 * HOUR],
])('a receiver that asks to wait %i ms is tried again after %i ms', async (retryAfterMs, waited) => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  kit.receiver.answer = { ...FAILING, kind: 'answered', status: 429, text: '', retryAfterMs };
  await kit.ask('test_webhook', { id });
  await kit.deliver();
  const [{ nextAttemptAt }] = await kit.deliveries(id);
  expect(Date.parse(nextAttemptAt) - kit.clock.time).toBe(waited);
});

test('a receiver that is gone disables its webhook, and what waits is dead', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  kit.receiver.answer = { kind: 'answered', status: 410, text: '' };
  await kit.ask('test_webhook', { id });
  await kit.ask('test_webhook', { id });
  await kit.deliver();
  expect(kit.received).toHaveLength(1);
  expect(await kit.ask('get_webhook', { id })).toMatchObject({
    enabled: false,
    disabledReason: 'The receiver answered 410 Gone.',
  });
  expect((await kit.deliveries(id, 'dead')).map(({ attempts }: { attempts: number }) => attempts).sort()).toEqual([
    0, 1,
  ]);
});

test('a webhook without a success for five days is disabled and says so', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  kit.receiver.answer = FAILING;
  await kit.ask('test_webhook', { id });
  for (let hour = 0; hour < 5 * 24; hour += 12) {
    await kit.deliver();
    expect(await kit.ask('get_webhook', { id })).toMatchObject({ enabled: true });
    await kit.ask('test_webhook', { id });
    kit.clock.time += 12 * HOUR;
  }
  await kit.deliver();
  expect(await kit.ask('get_webhook', { id })).toMatchObject({
    enabled: false,
    disabledReason: 'No delivery came through for 5 days.',
  });
  const enabled = await kit.ask('update_webhook', { id, enabled: true });
  expect(enabled).toMatchObject({ enabled: true, disabledReason: null, failingSince: null });
});

test('a control plane that ends between a commit and its delivery delivers after its next start', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-'));
  const file = path.join(directory, 'mesh.db');
  try {
    const before = await buildWebhookKit({ path: file });
    const { keys, store } = before.services;
    const { id } = await before.hook();
    await before.ask('create_network', { name: 'queued', spec: { cidr: '10.97.0.0/24' } });
    before.receiver.answer = DOWN;
    await before.deliver();
    await before.ask('create_network', { name: 'committed', spec: { cidr: '10.98.0.0/24' } });
    const { workspace } = before;
    // Nothing is told to the process: only what is in the file is left.
    await store.close();

    await using after = await buildWebhookKit({
      path: file,
      keys,
      now: before.clock.time + MINUTE,
      slugs: ['own-2', 'elsewhere-2'],
    });
    await after.deliver(workspace);
    await after.deliver(workspace);
    const names = after.received.map(({ body }) => JSON.parse(body).data.items[0].name);
    expect(names.toSorted()).toEqual(['committed', 'queued']);
    expect((await after.services.store.getById(workspace, 'Webhook', id))?.status.failingSince).toBeUndefined();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('an attempt whose outcome was not written is made again with the same id', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  await kit.ask('test_webhook', { id });
  kit.receiver.answer = () => Promise.reject(new Error('killed'));
  await expect(kit.deliver()).rejects.toThrow('killed');
  kit.receiver.answer = ANSWERED;
  await kit.deliver();
  const ids = kit.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([ids[0], ids[0]]);
});

test('a webhook that is deleted while a delivery is under way leaves nothing behind', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  await kit.ask('test_webhook', { id });
  kit.receiver.answer = async () => {
    await kit.ask('delete_webhook', { id });
    return ANSWERED;
  };
  await kit.deliver();
  expect(kit.received).toHaveLength(1);
  expect((await kit.services.store.list(kit.workspace, 'WebhookDelivery')).items).toEqual([]);
});

test('a workspace that is deleted is told of no more', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  await kit.ask('test_webhook', { id });
  await kit.as('platform_admin')('delete_workspace');
  await kit.deliver();
  expect(kit.received).toEqual([]);
  expect((await kit.services.store.list(kit.workspace, 'WebhookDelivery')).items).toEqual([]);
  expect((await kit.services.store.list(kit.workspace, 'Webhook')).items).toEqual([]);
});

test('events beyond what may wait stay in the log, and none is lost', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook({ events: ['assertion.*'] });
  kit.receiver.answer = DOWN;
  for (let made = 0; made < 205; made++) {
    await kit.services.store.record(kit.workspace, [
      { type: 'audit.no_activity', actor: `user:${made}`, result: 'ok', detail: {} },
    ]);
  }
  await kit.ask('update_webhook', { id, events: ['audit.*'] });
  await kit.deliver();
  expect(await kit.deliveries(id, 'waiting')).toHaveLength(200);
  kit.receiver.answer = ANSWERED;
  kit.clock.time += MINUTE;
  for (let round = 0; round < 3; round++) await kit.deliver();
  const actors = kit.received.map(({ body }) => JSON.parse(body).data.actor);
  expect(new Set(actors).size).toBe(205);
});

test('the secret is in no record, audit entry or list', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-'));
  const file = path.join(directory, 'mesh.db');
  try {
    await using kit = await buildWebhookKit({ path: file });
    const { id, secret } = await kit.hook();
    const { secret: other } = await kit.ask('rotate_webhook_secret', { id });
    await kit.ask('test_webhook', { id });
    await kit.deliver();
    const entries = await kit.services.store.audit(kit.workspace, { limit: 200 });
    const shown = JSON.stringify([entries, await kit.ask('list_webhooks'), await kit.deliveries(id)]);
    const stored = ['', '-wal'].map((end) => readFileSync(`${file}${end}`).toString('latin1')).join('');
    for (const one of [secret, other]) {
      expect(shown).not.toContain(one.slice('whsec_'.length));
      expect(stored).not.toContain(one.slice('whsec_'.length));
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a secret sealed with other credentials fails with what to do', async () => {
  await using kit = await buildWebhookKit();
  await using other = await buildWebhookKit();
  const { id } = await kit.hook();
  await kit.ask('test_webhook', { id });
  Object.assign(kit.services, { keys: other.services.keys });
  await kit.deliver();
  expect(await kit.deliveries(id)).toMatchObject([{ error: expect.stringContaining('rotate the secret') }]);
  expect(kit.received).toEqual([]);
});

test('a webhook whose URL was changed in the database gets nothing; one that was changed by an administrator goes on', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  const { store } = kit.services;
  const stored = await store.getById(kit.workspace, 'Webhook', id);
  if (!stored) throw new Error('the webhook is not there');
  const rewritten = { ...draftOf(stored), spec: { ...stored.spec, url: 'https://evil.example/mesh' } };
  const context = { actor: 'test', reason: 'rewritten', requestId: 'r_test' };
  await store.commit(kit.workspace, [{ op: 'update', record: rewritten, revision: stored.revision }], context);
  await kit.ask('test_webhook', { id });
  await kit.deliver();
  expect(kit.received).toEqual([]);
  expect(await kit.deliveries(id)).toMatchObject([
    { error: expect.stringContaining('URL was changed in the database') },
  ]);
  const { id: other, secret } = await kit.hook();
  await kit.ask('update_webhook', { id: other, url: 'https://hooks.example.com/moved' });
  await kit.ask('test_webhook', { id: other });
  await kit.deliver();
  expect(kit.received).toMatchObject([{ url: 'https://hooks.example.com/moved' }]);
  const [{ headers, body }] = kit.received as [DeliveryRequest];
  const signed = headersOf({ id: headers['webhook-id'] ?? '', body, at: kit.clock.time }, [new Secret(secret)]);
  expect(headers['webhook-signature']).toBe(signed['webhook-signature']);
});

test('however many were delivered between two upkeeps, a bounded number is kept and read', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook({ events: ['snapshot.created'] });
  const { store } = kit.services;
  const ended = (place: number) => {
    const draft = deliveryDraft({ webhook: id, type: 'webhook.test', body: '{}' }, kit.clock.time - MINUTE, place);
    return { ...draft, status: { state: 'delivered' as const, attempts: 1, endedAt: kit.clock.time } };
  };
  const ops = Array.from({ length: MAX_ENDED + 300 }, (_, place) => ({ op: 'create' as const, record: ended(place) }));
  await store.commit(kit.workspace, ops, { actor: 'test', reason: 'sent many', requestId: 'r_test' });
  await kit.ask('test_webhook', { id });
  const { items } = await store.list(kit.workspace, 'WebhookDelivery');
  expect(items.length).toBe(MAX_ENDED + 1);
  expect(items.filter(({ status }) => status.state === 'waiting')).toHaveLength(1);
});

test('delivered ones are kept for a week, dead ones for a month', async () => {
  await using kit = await buildWebhookKit();
  const { id } = await kit.hook();
  await kit.ask('test_webhook', { id });
  await kit.deliver();
  kit.receiver.answer = { kind: 'answered', status: 410, text: '' };
  await kit.ask('test_webhook', { id });
  await kit.deliver();
  kit.clock.time += 8 * DAY;
  expect(await removeOldDeliveries(kit.services, kit.workspace)).toBe(1);
  expect(await kit.deliveries(id)).toMatchObject([{ status: 'dead' }]);
  kit.clock.time += 23 * DAY;
  expect(await removeOldDeliveries(kit.services, kit.workspace)).toBe(1);
});
