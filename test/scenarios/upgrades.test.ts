import { readdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { takenGraphShape } from '../../client/graph-shape.ts';
import { startHarness } from '../kits/http/harness.ts';
import { fixtureOf, releases } from '../releases/fixture.ts';
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
      wrong.push(
        ...otherwise(route === '/api/v1/users' ? sinceSignedIn(before) : before, after).map(
          (line) => `${route} ${line}`,
        ),
      );
    }
    expect(wrong).toEqual([]);
    expect(Object.keys(answers).filter((route) => route.includes('/check-at?')).length).toBeGreaterThan(50);
    const { body } = await harness.api('GET', '/api/v1/audit?limit=1', { token, workspace });
    expect(body.items[0].actor).toBe('system:upgrade');
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

/** The first administrator has chosen a password to sign in. */
function sinceSignedIn(users: unknown) {
  const { items } = users as { readonly items: readonly { readonly username: string }[] };
  const isAdmin = (username: string) => username === 'admin';
  return { items: items.map((user) => (isAdmin(user.username) ? { ...user, passwordChangeRequired: false } : user)) };
}

/** The upgrade tells in the audit log what it found. */
const isOfBefore = ({ actor }: { actor: string }) => actor !== 'system:upgrade';

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
