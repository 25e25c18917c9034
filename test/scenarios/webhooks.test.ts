import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { FLIGHT_LIMITS } from '../../plane/webhooks/due.ts';
import { ADMIN_PASSWORD, apiOf, configure, freshWorkspace, startHarness } from '../kits/http/harness.ts';
import { startReceiver } from '../kits/http/receiver.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { mesh } from '../kits/process/run-command.ts';

const ALLOWED = { MESH_WEBHOOK_ALLOW: '127.0.0.0/8' };
const WAIT = { timeout: 20_000 };
const TEST_MS = 120_000;
const SPEC = { action: 'DENY', peerSelector: {} };

test('mesh webhook makes, shows, tests, changes and deletes a webhook, and sends again what has died', {
  timeout: TEST_MS,
}, async () => {
  let status = 204;
  await using receiver = await startReceiver((response) => void response.writeHead(status).end());
  await using harness = await startHarness({ env: ALLOWED });
  await harness.workspace('prod');
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const login = ['login', '--server', harness.url, '--workspace', 'prod'];
  await mesh(login, { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
  const tell = async (verb: string, ...args: string[]) => {
    const { code, stdout, stderr } = await mesh(['webhook', verb, ...args, '--json'], { home });
    expect([verb, code, stderr]).toEqual([verb, 0, '']);
    return JSON.parse(stdout || 'null');
  };
  /** Deliveries of the webhook, once they are all as they are to be. */
  const deliveries = async (expected: object[]) => {
    let items: { id: string }[] = [];
    await expect.poll(async () => (items = (await tell('deliveries', id)).items), WAIT).toMatchObject(expected);
    return items;
  };

  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const made = await tell('create', url, '--events', 'policy.*', '--description', 'chat');
  const { id, secret } = made;
  expect(made).toMatchObject({ url, events: ['policy.*'], description: 'chat', enabled: true });
  const shown = await tell('show', id);
  expect(shown).toMatchObject({ id, url });
  expect(JSON.stringify([shown, await tell('list')])).not.toContain(secret);
  expect((await tell('list')).items.map((one: { id: string }) => one.id)).toEqual([id]);

  await tell('test', id);
  const [first] = await deliveries([{ type: 'webhook.test', status: 'delivered', attempts: 1 }]);
  const [request] = receiver.received;
  const signed = new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {});
  expect(signed).toMatchObject({ type: 'webhook.test' });
  const { id: delivery } = first as { id: string };
  expect(await tell('delivery', id, delivery)).toMatchObject({ id: delivery, status: 'delivered' });

  const { secret: other } = await tell('rotate-secret', id);
  await tell('resend', id, delivery);
  await expect.poll(() => receiver.received.length, WAIT).toBe(2);
  const [before, again] = receiver.received;
  expect(again?.headers['webhook-id']).toBe(before?.headers['webhook-id']);
  for (const one of [secret, other]) new Webhook(one).verify(again?.body ?? '', again?.headers ?? {});

  await deliveries([{ status: 'delivered' }]);
  status = 410;
  await tell('test', id);
  await deliveries([{ status: 'dead' }, { status: 'delivered' }]);
  expect(await tell('show', id)).toMatchObject({ enabled: false });
  status = 204;
  const enabled = await tell('update', id, '--enabled', '--events', 'network.*');
  expect(enabled).toMatchObject({ enabled: true, events: ['network.*'] });
  await tell('resend-dead', id, '--since', '1h');
  await deliveries([{ status: 'delivered' }, { status: 'delivered' }]);

  const refused = await mesh(['webhook', 'create', 'http://10.0.0.1/hook', '--events', '*'], { home });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('MESH_WEBHOOK_ALLOW')]);
  await tell('delete', id);
  expect((await tell('list')).items).toEqual([]);
  expect((await mesh(['webhook', 'show', id], { home })).code).toBe(4);
});

test('a control plane that is killed with deliveries waiting delivers each event after its next start, each by one id', {
  timeout: TEST_MS,
}, async () => {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  configure(directory);
  /** Of the first: never answered, as by a receiver that hangs. */
  const hanging: ServerResponse[] = [];
  let isUp = false;
  await using receiver = await startReceiver((response) => {
    if (isUp) response.writeHead(204).end();
    else hanging.push(response);
  });
  const named = () =>
    receiver.received.map(({ body, headers }) => ({
      name: JSON.parse(body).data.items[0].name as string,
      id: headers['webhook-id'],
    }));

  const killed = startMeshd({ directory, env: ALLOWED });
  onTestFinished(() => void killed.child.kill('SIGKILL'));
  const api = apiOf(await killed.ready());
  const { token, workspace } = await freshWorkspace(api);
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const hooks = `/api/v1/workspaces/${workspace}/webhooks`;
  const hook = await api('POST', hooks, { token, workspace, body: { url, events: ['policy.created'] } });
  expect(hook.status).toBe(201);
  const acknowledged: string[] = [];
  for (let number = 0; number < 12; number += 1) {
    const name = `p-${number}`;
    const { status } = await api('POST', '/api/v1/policies', { token, workspace, body: { name, spec: SPEC } });
    if (status === 201) acknowledged.push(name);
    if (number === 5) await expect.poll(() => hanging.length, WAIT).toBeGreaterThan(0);
  }
  expect(acknowledged).toHaveLength(12);
  // As many as are sent at once: none is on its way when it is killed.
  await expect.poll(() => hanging.length, WAIT).toBeGreaterThanOrEqual(FLIGHT_LIMITS.webhook);
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(new Set(named().map(({ name }) => name)).size).toBeLessThan(acknowledged.length);

  isUp = true;
  const before = named();
  const meshd = startMeshd({ directory, env: ALLOWED });
  onTestFinished(async () => void (await meshd.stop()));
  const again = apiOf(await meshd.ready());
  await expect
    .poll(async () => {
      const { body } = await again('GET', `${hooks}/${hook.body.id}/deliveries?limit=200`, { token, workspace });
      return body.items?.filter(({ status }: { status: string }) => status === 'delivered').length;
    }, WAIT)
    .toBe(acknowledged.length);
  const after = named().slice(before.length);
  expect(after.map(({ name }) => name).toSorted()).toEqual(acknowledged.toSorted());
  for (const [name, all] of Map.groupBy(named(), (one) => one.name))
    expect([name, new Set(all.map(({ id }) => id)).size]).toEqual([name, 1]);
});
