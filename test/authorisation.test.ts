import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import type { Ask, Asker, History } from './authorisation/ask.ts';
import { asks, ENDING, PROMPTS, RESOURCES } from './authorisation/asks.ts';
import { namesRecords, requestAbout, requestIn, seenBy } from './authorisation/over-rest.ts';
import { rawMcp } from './authorisation/raw-mcp.ts';
import type { Identity, Verdict } from './authorisation/standing.ts';
import { type Row, tableOf } from './authorisation/table.ts';
import { buildWorld, type World } from './authorisation/world.ts';
import { reading } from './kits/http/read-events.ts';

/** Thousands of requests, on a machine that others use too. */
const LONG_MS = 300_000;

let world: World;
/** Others of the same, one for each operation that ends its caller. */
let spares: readonly World[] = [];
let history: History;
let rows: readonly Row[];
const mismatches: string[] = [];
const askers = new Map<string, Asker>();

beforeAll(async () => {
  world = await buildWorld();
  spares = await Promise.all(ENDING.map(buildWorld));
  const ends = ({ what }: Ask) => ENDING.includes(what);
  const lasting = asks.filter((ask) => !ends(ask));
  const streams = await Promise.all(world.identities.map((identity) => eventsOf(world, identity)));
  history = await world.liveThrough();
  const columns = await Promise.all(
    world.identities.map(async (identity, index) => {
      const asker = await askerOf(world, identity, streams[index], history);
      askers.set(identity.name, asker);
      const column = await verdictsOf(asker, identity, lasting);
      for (const [at, spare] of spares.entries()) {
        const twin = spare.identities[index] ?? identity;
        const last = asks.filter(({ what }) => what === ENDING[at]);
        const found = await verdictsOf(await askerOf(spare, twin), twin, last);
        for (const [what, verdict] of found) column.set(what, verdict);
      }
      return [identity.name, column] as const;
    }),
  );
  rows = asks.map(({ what, needs }) => {
    const verdicts = [...columns].map(([name, column]) => [name, column.get(what) ?? 'no'] as const);
    return { what, needs, verdicts: new Map(verdicts) };
  });
}, LONG_MS);

afterAll(async () => {
  for (const one of [world, ...spares]) await one[Symbol.asyncDispose]();
});

describe('every operation, tool, resource, prompt, subscription and stream', () => {
  test('lets in and refuses each kind of caller as its definition says', () => {
    expect(mismatches).toEqual([]);
  });

  test('does so as the committed table says', async () => {
    await expect(tableOf(rows, world.identities)).toMatchFileSnapshot('authorisation-table.md');
  });

  test('has a row', async () => {
    const [, current] = askers.get('admin')?.mcp ?? [];
    const listed = async (method: string) => (await current?.send(method))?.result;
    const { prompts } = await listed('prompts/list');
    expect(prompts.map(({ name }: { name: string }) => name)).toEqual(Object.keys(PROMPTS));
    const { resourceTemplates } = await listed('resources/templates/list');
    const families = resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate);
    expect(families).toEqual(Object.keys(RESOURCES).map((family) => `mesh://workspaces/{w}/${family}`));
  });
});

const isLetIn = ({ standing }: Identity) => !('refused' in standing);

describe('MCP', () => {
  test('lists for each caller the tools and resources that it may use, and no other', async () => {
    for (const { name } of world.identities.filter(isLetIn)) {
      const asker = askers.get(name);
      const may = (what: string) => rows.find((row) => row.what === what)?.verdicts.get(name) === 'yes';
      const tools = MCP_TOOLS.filter((tool) => may(`tool ${tool}`));
      const resources = ['policies', 'peers', 'drift'].filter((family) => may(`resource ${family}`));
      for (const client of asker?.mcp ?? []) {
        const listed = (await client.send('tools/list')).result.tools;
        expect([name, listed.map((tool: { name: string }) => tool.name)]).toEqual([name, tools]);
        const found = (await client.send('resources/list')).result.resources;
        const uris = resources.map((family) => `mesh://workspaces/${world.workspace}/${family}`);
        // A platform administrator names a workspace: it has none of its own.
        expect([name, found.map(({ uri }: { uri: string }) => uri)]).toEqual([name, uris]);
      }
    }
  });

  test('answers for an operation that is no tool as for one that does not exist', { timeout: LONG_MS }, async () => {
    const others = operations.filter(({ name }) => !MCP_TOOLS.includes(name));
    for (const name of ['platform admin', 'root agent', 'device']) {
      for (const client of askers.get(name)?.mcp ?? []) {
        const answerTo = async (tool: string) => {
          const answer = await client.send('tools/call', { name: tool, arguments: {} });
          return JSON.stringify(answer).replaceAll(tool, '<tool>');
        };
        const absent = await answerTo('no_such_tool');
        expect(absent).toContain('There is no tool <tool>');
        for (const other of others) expect([other.name, await answerTo(other.name)]).toEqual([other.name, absent]);
      }
    }
  });

  test('answers for a session of someone else as for one that does not exist', async () => {
    const owner = askers.get('admin')?.mcp[0]?.session ?? '';
    const common = { url: world.faces.url, era: '2025', workspace: world.workspace } as const;
    for (const { name, bearer } of world.identities.filter((identity) => identity.name !== 'admin')) {
      const [taken, absent] = await Promise.all(
        [owner, owner.replaceAll(/[0-9a-f]/g, '0')].map(async (session) =>
          JSON.stringify(await (await rawMcp({ ...common, bearer, session })).send('tools/list')),
        ),
      );
      const withoutId = (text = '') => text.replaceAll(/"requestId":"[^"]*"/g, '');
      expect([name, withoutId(taken)]).toEqual([name, withoutId(absent)]);
    }
  });
});

describe('the other workspace', () => {
  test('is answered for, by its id and its slug, as one that does not exist', { timeout: LONG_MS }, async () => {
    const { faces, foreign } = world;
    const pairs = [
      [foreign, absentAs(foreign)],
      ['lair', 'cave'],
    ] as const;
    const isOutside = ({ name, standing }: Identity) =>
      !['foreign admin', 'platform admin'].includes(name) && !('refused' in standing);
    const scoped = operations.filter(({ workspace, access }) => workspace === 'scoped' && access !== 'public');
    await Promise.all(
      world.identities.filter(isOutside).map(async ({ name, bearer, standing }) => {
        const isRestricted = 'mustChangePassword' in standing;
        const answer = isRestricted
          ? 'Change the password first'
          : 'There is no workspace <name> that you are a member of.';
        for (const operation of scoped) {
          for (const [there, absent] of pairs) {
            const [seen, unseen] = [
              await seenBy(faces.send, bearer, requestIn(there, operation), there),
              await seenBy(faces.send, bearer, requestIn(absent, operation), absent),
            ];
            expect([name, operation.name, seen]).toEqual([name, operation.name, unseen]);
            expect(seen).toContain(answer);
          }
        }
      }),
    );
  });

  test('has no record that can be told from one that does not exist, whoever asks in this one', {
    timeout: LONG_MS,
  }, async () => {
    const { faces, workspace, kit, foreign } = world;
    const { store } = kit.services;
    const before = await store.revision(foreign);
    const told: string[] = [];
    const records = [...new Map([...history.foreign].map(([id, kind]) => [kind, id]))];
    expect(records.map(([kind]) => kind)).toEqual(
      expect.arrayContaining(['MeshPeer', 'MeshPolicy', 'AgentIdentity', 'Workflow', 'Snapshot', 'Plan', 'Token']),
    );
    const asking = operations.filter((operation) => operation.workspace === 'scoped' && namesRecords(operation));
    for (const { name, bearer } of world.identities.filter(({ name }) => MIGHTY.includes(name))) {
      for (const operation of asking) {
        for (const [kind, id] of records) {
          const absent = absentAs(id);
          const [seen, unseen] = [
            await seenBy(faces.send, bearer, requestAbout(id, operation, workspace), id),
            await seenBy(faces.send, bearer, requestAbout(absent, operation, workspace), absent),
          ];
          if (seen !== unseen) told.push(`${name} by ${operation.name} of a ${kind}: ${seen}, not ${unseen}`);
        }
      }
    }
    expect(told).toEqual([]);
    expect(await store.revision(foreign)).toBe(before);
  });

  test('sends nothing to whom reads the events of this one', async () => {
    const { foreign, admin, foreignAdmin, call } = world;
    const may = rows.find(({ what }) => what === 'stream /api/v1/events')?.verdicts;
    const readers = world.identities.filter(({ name }) => may?.get(name) === 'yes');
    expect(readers.map(({ name }) => name)).toContain('isolated');
    const streams = await Promise.all(readers.map(async (reader) => reading(await eventsOf(world, reader))));
    const spec = { action: 'DENY', peerSelector: {} };
    await call(foreignAdmin, 'create_policy', { name: 'hidden', spec }, foreign);
    await call(admin, 'create_policy', { name: 'ours', spec });
    for (const [index, stream] of streams.entries()) {
      const event = await stream.next();
      const names = event?.data.changes.map((change: { name: string }) => change.name);
      expect([readers[index]?.name, names]).toEqual([readers[index]?.name, ['ours']]);
      await stream.stop();
    }
  });

  test('sends nothing to whom watches the resources of this one', async () => {
    const { workspace, foreign, admin, foreignAdmin, call } = world;
    const may = rows.find(({ what }) => what === 'listen policies')?.verdicts;
    const watching = world.identities.filter(({ name }) => may?.get(name) === 'yes');
    const uri = `mesh://workspaces/${workspace}/policies`;
    const streams = await Promise.all(
      watching.map(async ({ name }) => {
        const notifications = { resourceSubscriptions: [uri] };
        const opened = await askers.get(name)?.mcp[1]?.open('subscriptions/listen', { notifications });
        if (!opened || !('events' in opened)) throw new Error(`${name} was refused.`);
        const events = reading(new Response(opened.events));
        // Says that it listens from now on.
        await events.next();
        return { name, events };
      }),
    );
    const spec = { action: 'DENY', peerSelector: {} };
    await call(foreignAdmin, 'create_policy', { name: 'unseen', spec }, foreign);
    await call(admin, 'create_policy', { name: 'seen', spec });
    for (const { name, events } of streams) {
      expect([name, (await events.next())?.data.params.uri]).toEqual([name, uri]);
      await events.stop();
    }
  });
});

/** Who may do most in the workspace. */
const MIGHTY: readonly string[] = ['admin', 'platform admin', 'root agent'];

/** An id of the same form that nothing has. */
function absentAs(id: string): string {
  return id.replace(/_.*/, (random) => `_${'a'.repeat(random.length - 1)}`);
}

async function eventsOf({ faces, workspace }: World, { bearer }: Identity): Promise<Response> {
  return faces.send('/api/v1/events', bearer, { headers: { 'x-workspace-id': workspace } });
}

async function askerOf(it: World, { bearer }: Identity, events = new Response(), happened = NOTHING): Promise<Asker> {
  const { faces, workspace, snapshotId, workflowId } = it;
  const common = { url: faces.url, bearer, workspace };
  const opened = await rawMcp({ ...common, era: '2025' });
  // Who cannot open a session tries that of another.
  const stolen = async () => (await rawMcp({ ...common, era: '2025', bearer: it.admin })).session ?? '';
  const legacy = opened.session ? opened : await rawMcp({ ...common, era: '2025', session: await stolen() });
  const mcp = [legacy, await rawMcp({ ...common, era: 'current' })];
  const ids = { snapshots: snapshotId, workflows: workflowId };
  return { bearer, workspace, send: faces.send, mcp, ids, events, history: happened };
}

const NOTHING: History = { end: 0, foreign: new Map() };

/** Asks for each, and notes where the answer is not the one that the definitions lead to. */
async function verdictsOf(asker: Asker, identity: Identity, wanted: readonly Ask[]): Promise<Map<string, Verdict>> {
  const found = new Map<string, Verdict>();
  for (const ask of wanted) {
    const expected = ask.expected(identity.standing);
    for (const verdict of await ask.observed(asker)) {
      found.set(ask.what, verdict);
      if (verdict !== expected) mismatches.push(`${identity.name}: ${ask.what} is ${verdict}, not ${expected}`);
    }
  }
  return found;
}
