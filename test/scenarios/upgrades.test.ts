import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KnownPeers } from '../../client/agent/known-peers.ts';
import { ControlLink } from '../../client/control/control-link.ts';
import { GraphFile } from '../../client/control/graph-file.ts';
import { LogFile } from '../../client/control/log-file.ts';
import { LogWitness } from '../../client/control/log-witness.ts';
import { readNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { takenGraphShape } from '../../client/graph-shape.ts';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { bareNode } from '../kits/http/bare-node.ts';
import { startHarness } from '../kits/http/harness.ts';
import { register } from '../kits/http/joining.ts';
import { fixtureOf, olderReleases, releases } from '../releases/fixture.ts';
import { nodeDirectoryOf } from '../releases/node-directory.ts';
import { APPROVER, ASKED_LABELS, PENDING_PEER, TOKEN_LABELS } from '../releases/pending.ts';
import { otherwise } from '../releases/same-facts.ts';

describe.each(releases())('a store of %s', (version) => {
  test('is taken over, and what is answered of its network now and in the past is what that release answered', async () => {
    const { directory, at, workspace, answers } = fixtureOf(version);
    const now = Date.parse(at);
    await using harness = await startHarness({ directory, clock: { now: () => now } });
    const token = await harness.login();
    const wrong: string[] = [];
    for (const [route, before] of Object.entries(answers)) {
      const { status, body, text } = await harness.api('GET', route, { token, workspace });
      if (status !== 200) wrong.push(`${route} answered ${status}: ${text}`);
      const after = route.includes('/audit') ? { ...body, items: body.items.filter(isOfBefore) } : body;
      wrong.push(...otherwise(sinceTakenOver(route, before), after).map((line) => `${route} ${line}`));
    }
    expect(wrong).toEqual([]);
    expect(Object.keys(answers).filter((route) => route.includes('/check-at?')).length).toBeGreaterThan(50);
    const { body } = await harness.api('GET', '/api/v1/audit?limit=50', { token, workspace });
    const isUpgraded = body.items.some(({ actor }: { actor: string }) => actor === 'system:upgrade');
    expect(isUpgraded).toBe(olderReleases().includes(version));
  });

  test('knows its devices: one that goes on as before is online, and is given the peers and the firewall that it had', async () => {
    const { directory, at, workspace, device, graph } = fixtureOf(version);
    const now = Date.parse(at);
    await using harness = await startHarness({ directory, clock: { now: () => now } });
    const own = (method: string, what: string, body?: object) =>
      harness.api(method, `/api/v1/devices/self${what}`, { token: device, ...(body && { body }) });
    expect((await own('POST', '/heartbeat', { paths: [] })).body).toMatchObject({ phase: 'ready' });
    const { body } = await own('GET', '/graph');
    for (const part of ['self', 'peers', 'firewall'])
      expect(otherwise(graph[part], body[part], `/${part}`)).toEqual([]);
    expect(body.peers.length).toBeGreaterThan(1);
    const { body: peer } = await harness.api('GET', '/api/v1/peers/db-1', { token: await harness.login(), workspace });
    expect(peer.status).toMatchObject({ online: true, version: null });
  });

  test('has graphs that a node of this version takes as they are', () => {
    const { graph } = fixtureOf(version);
    const { self, peers, firewall } = takenGraphShape(graph);
    expect([self, peers, firewall]).toMatchObject([graph['self'], graph['peers'], graph['firewall']]);
  });
});

describe.each(olderReleases())('a store of %s, whose schema is older,', (version) => {
  test.each([
    ['that is cut off', "body = '{'"],
    ['that lacks what every record has', "body = '{}'"],
  ])('with a record %s is refused by the name of the record, and stays as it was', async (_, change) => {
    const { directory, workspace } = fixtureOf(version);
    const schema = schemaOf(directory);
    edit(directory, `UPDATE record SET ${change} WHERE kind = 'MeshPolicy' AND name = 'shut'`);
    await expect(startHarness({ directory })).rejects.toThrow(
      new RegExp(`is not upgraded, for MeshPolicy shut of workspace ${workspace}, as of revision \\d+ cannot be read`),
    );
    expect(readdirSync(directory).filter((name) => name.endsWith('.bak'))).toEqual([]);
    expect(schemaOf(directory)).toBe(schema);
  });

  test('with a past that cannot be read is refused by the name of the record', async () => {
    const { directory } = fixtureOf(version);
    edit(
      directory,
      "UPDATE version SET body = x'0100' WHERE record = (SELECT id FROM record WHERE name = 'web-2' AND kind = 'MeshPeer')",
    );
    await expect(startHarness({ directory })).rejects.toThrow(
      /MeshPeer web-2 of workspace w_\w+, as of revision \d+ cannot/,
    );
  });

  test('with an entry of the audit log that cannot be read is refused by the number of the entry', async () => {
    const { directory } = fixtureOf(version);
    edit(directory, "DROP TRIGGER audit_is_never_changed; UPDATE audit SET entry = '{' WHERE seq = 20");
    await expect(startHarness({ directory })).rejects.toThrow(
      /entry 20 of the audit log of workspace w_\w+ cannot be read/,
    );
  });
});

describe.each(releases().filter((version) => version !== '0.1.0'))('what %s left undecided and unspent', (version) => {
  /** The store, taken over, as its people and agents go on with it. */
  async function takenOver() {
    const { directory, at, workspace, pending } = fixtureOf(version);
    if (!pending) throw new Error(`${version} has no such part.`);
    const now = Date.parse(at);
    const harness = await startHarness({ directory, clock: { now: () => now } });
    const tokens = {
      admin: await harness.login(),
      bob: await harness.login(APPROVER.username, APPROVER.password),
      agent: pending.agent,
    };
    const as = (who: keyof typeof tokens) => (method: string, route: string, body?: object) =>
      harness.api(method, route, { token: tokens[who], workspace, ...(body && { body }) });
    return { harness, pending, workspace, as, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
  }

  test('each workflow that waited is approved, and does what was asked for', async () => {
    await using plane = await takenOver();
    const { pending, as } = plane;
    for (const { id, repeated } of pending.workflows) {
      expect((await as('admin')('GET', `/api/v1/workflows/${id}`)).body).toMatchObject({ status: 'pending' });
      const { body } = await as('bob')('POST', `/api/v1/workflows/${id}/approve`, {});
      expect([id, body]).toMatchObject([id, { status: repeated ? 'approved' : 'executed' }]);
    }
    for (const { policy, deletedPeer, repeated } of pending.workflows) {
      if (policy) expect((await as('admin')('GET', `/api/v1/policies/${policy}`)).status).toBe(200);
      if (deletedPeer) expect((await as('admin')('GET', `/api/v1/peers/${deletedPeer}`)).status).toBe(404);
      if (repeated) {
        const { body } = await as('agent')('POST', repeated.route, repeated.body);
        expect(body.token).toMatch(/^mesh-join-/);
      }
    }
    const kinds = ['policy', 'deletedPeer', 'repeated'] as const;
    expect(kinds.filter((kind) => pending.workflows.some((workflow) => workflow[kind] === undefined))).toEqual(kinds);
  });

  test('a device that awaited approval is let in', async () => {
    await using plane = await takenOver();
    const { as } = plane;
    expect((await as('admin')('GET', `/api/v1/peers/${PENDING_PEER}`)).body.status.phase).toBe('pending');
    const { body } = await as('bob')('POST', `/api/v1/peers/${PENDING_PEER}/approve`, {});
    expect(body.status).toMatchObject({ phase: 'ready', address: expect.stringMatching(/^10\.96\./) });
  });

  test('join tokens that have uses left are good, with their labels and those that they grant, and the used up one is not', async () => {
    await using plane = await takenOver();
    const { harness, as } = plane;
    const { fresh, labeled, usedUp } = plane.pending.joinTokens;
    expect((await register(harness, fresh, 'late-1')).status).toBe(201);
    expect((await register(harness, usedUp, 'late-2')).status).toBe(401);
    expect((await register(harness, labeled, 'late-3', { labels: { ...ASKED_LABELS, disk: 'tape' } })).status).toBe(
      403,
    );
    expect((await register(harness, labeled, 'late-4', { labels: ASKED_LABELS })).status).toBe(201);
    const { body } = await as('admin')('GET', '/api/v1/peers/late-4');
    expect(body.labels).toEqual({ ...TOKEN_LABELS, ...ASKED_LABELS });
  });

  test('an API token reads, an agent plans and delegates, its sub-agent reads, and an unspent enrollment makes another', async () => {
    await using plane = await takenOver();
    const { harness, pending, workspace, as } = plane;
    for (const token of [pending.apiToken, pending.subAgent]) {
      const { status } = await harness.api('GET', '/api/v1/peers', { token, workspace });
      expect(status).toBe(200);
    }
    const { status } = await harness.api('DELETE', '/api/v1/peers/web-1', { token: pending.subAgent, workspace });
    expect(status).toBe(403);
    const planned = await as('agent')('POST', '/api/v1/ai/intent/plan', { intent: 'let ci reach db on tcp 5432' });
    expect(planned.body.plan_id).toMatch(/^plan_/);
    const child = { subAgentName: 'child-2', ttl: '1h', policyPreset: 'isolated', scopes: ['network:read'] };
    expect((await as('agent')('POST', '/api/v1/agents/self/delegate', child)).body.enrollmentToken).toMatch(
      /^mesh-dlg-/,
    );
    const enrolled = await register(harness, pending.enrollment, 'later', { platform: 'agent' });
    expect([enrolled.status, enrolled.body.agentToken]).toEqual([201, expect.stringMatching(/^mesh-agt-/)]);
    expect((await register(harness, pending.enrollment, 'later-2', { platform: 'agent' })).status).toBe(401);
    const { body } = await as('admin')('GET', '/api/v1/agents/operator/tree');
    expect(JSON.stringify(body)).toMatch(/"helper".*"later"|"later".*"helper"/);
  });

  test('a webhook keeps its events, and is as it was: off', async () => {
    await using plane = await takenOver();
    const { pending, workspace, as } = plane;
    const route = `/api/v1/workspaces/${workspace}/webhooks/${pending.webhook}`;
    expect((await as('admin')('GET', route)).body).toMatchObject({ events: ['workflow.*'], enabled: false });
    expect((await as('admin')('GET', `${route}/deliveries`)).body).toMatchObject({ items: [] });
  });

  test('a node goes on from its configuration directory: name, key, graph, checkpoint of the audit log, peers it met', async () => {
    await using plane = await takenOver();
    const directory = nodeDirectoryOf(version, plane.harness.url);
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const config = readNodeConfig(directory);
    if (!config) throw new Error('There is no node.');
    const kept = new GraphFile(directory, config.id).read();
    expect([config.name, kept?.self.name]).toEqual(['edge-1', 'edge-1']);
    const known = new KnownPeers(directory, silentLog).all;
    expect([...known.values()]).toEqual([[{ address: '192.0.2.7', port: 51_820 }]]);
    const logFile = new LogFile(directory);
    const before = logFile.read()?.kept;
    expect(readCheckpoint(before?.note ?? '')?.size).toBeGreaterThan(0);
    const { link, graphs, lines } = bareNode({ ControlLink }, config, kept, logFile);
    await link.start();
    await plane.as('admin')('PATCH', '/api/v1/peers/web-1', { labels: { role: 'web', stage: 'late' } });
    await plane.as('admin')('GET', '/api/v1/audit/checkpoint');
    const api = new PlaneApi(config.server, config.deviceToken);
    const witness = new LogWitness({ ...config, file: logFile, api, clock: { now: Date.now }, log: silentLog });
    witness.saw((await api.graph()).checkpoint);
    const grown = () => readCheckpoint(logFile.read()?.kept?.note ?? '')?.size ?? 0;
    await expect.poll(grown).toBeGreaterThan(readCheckpoint(before?.note ?? '')?.size ?? 0);
    await witness.stop();
    expect([link.status.trouble, logFile.read()?.refused]).toEqual(['', undefined]);
    expect(graphs.at(-1)?.peers.map(({ name }) => name)).toEqual(kept?.peers.map(({ name }) => name));
    expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
  });
});

/** The first administrator has chosen a password to sign in. */
/** Returns an answer as it is after the upgrade and its first cleanup. */
function sinceTakenOver(route: string, before: unknown): unknown {
  if (route === '/api/v1/users') return sinceSignedIn(before);
  return route.startsWith('/api/v1/tokens') ? withoutUsedUp(before) : before;
}

/** Used-up join tokens leave the list with the next cleanup. */
function withoutUsedUp(tokens: unknown) {
  const { items } = tokens as { readonly items: readonly { usageLimit: number | null; usedCount: number }[] };
  return {
    ...(tokens as object),
    items: items.filter(({ usageLimit, usedCount }) => usageLimit === null || usedCount < usageLimit),
  };
}

function sinceSignedIn(users: unknown) {
  const { items } = users as { readonly items: readonly { readonly username: string }[] };
  const isAdmin = (username: string) => username === 'admin';
  return { items: items.map((user) => (isAdmin(user.username) ? { ...user, passwordChangeRequired: false } : user)) };
}

/** The upgrade tells in the audit log what it found, and so does the next cleanup. */
const isOfBefore = ({ actor }: { actor: string }) => !['system:upgrade', 'system:remove-spent-tokens'].includes(actor);

function edit(directory: string, sql: string): void {
  const database = new DatabaseSync(path.join(directory, 'mesh.db'));
  database.exec(sql);
  database.close();
}

function schemaOf(directory: string): unknown {
  const database = new DatabaseSync(path.join(directory, 'mesh.db'));
  const row = database.prepare('PRAGMA user_version').get();
  database.close();
  return row?.['user_version'];
}
