import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from '../kits/http/harness.ts';
import type { Rule } from './oracle.ts';
import { randomOf } from './random.ts';
import { World } from './world.ts';
import { createPolicy, join } from './writes.ts';

/** The rig is no proof of anything unless it can fail. Each of these is a fault that it has to find. */

const OPEN: Rule = { action: 'ALLOW', to: 'db', from: 'web', port: 443 };
const [SHUT, OTHER]: readonly Rule[] = [
  { ...OPEN, action: 'DENY' },
  { ...OPEN, port: 5_432 },
] as const;

let between: (api: Api) => Api = (api) => api;
const world = new World(randomOf(1), {
  between:
    (api) =>
    (...asked) =>
      between(api)(...asked),
});

beforeAll(async () => {
  await world.victim.start();
  await world.settle();
  for (const write of [createPolicy('kept', OPEN), createPolicy('dropped', OTHER), join('w', 'web'), join('d', 'db')]) {
    await world.main.write(world.place, write);
  }
  await world.look();
  expect(world.findings).toEqual([]);
});
afterAll(async () => {
  world.findings.length = 0;
  await world.close();
});

/** What is found now, each time anew. */
async function found(): Promise<string[]> {
  world.findings.length = 0;
  await world.look();
  return [...world.findings];
}

/** An answer of one route that somebody changes. */
function doctored(route: string, change: (body: never) => unknown): (api: Api) => Api {
  return (api) => async (method, asked, options) => {
    const answer = await api(method, asked, options);
    return asked.startsWith(`/api/v1/${route}`) ? { ...answer, body: change(answer.body as never) } : answer;
  };
}

test('a verdict that is turned round is noticed', async () => {
  between = doctored('connectivity/matrix', (body: { groups: unknown[] }) => ({
    ...body,
    groups: body.groups.slice(1),
  }));
  const lies = await found();
  between = (api) => api;
  expect(lies.join('\n')).toMatch(/^now \w > \w:443 is shut, and should not be$/m);
  expect(lies.join('\n')).toMatch(/^at 20\S+ \w > \w:443 is shut, and should not be$/m);
  expect(await found()).toEqual([]);
});

test('a list that leaves out what was acknowledged, or has what nobody made, is noticed', async () => {
  between = doctored('peers', (body: { items: { name: string }[] }) => ({
    ...body,
    items: body.items.map((item) => (item.name === 'w' ? { ...item, name: 'x' } : item)),
  }));
  const lies = await found();
  between = (api) => api;
  expect(lies).toEqual(['lost: peer w', 'nobody made: peer x']);
});

test('an acknowledged policy that is taken out of the database between a kill and a start is noticed', async () => {
  world.findings.length = 0;
  await world.victim.kill();
  const database = new DatabaseSync(path.join(world.victim.directory, 'mesh.db'));
  database.exec(`PRAGMA foreign_keys = off;
    DELETE FROM version WHERE record IN (SELECT id FROM record WHERE name = 'dropped');
    DELETE FROM record WHERE name = 'dropped'`);
  database.close();
  await world.comeBack();
  expect(world.findings).toContain('lost: policy dropped');
});

test('a batch of which one part is missing, and a write that the audit log tells twice, are noticed', async () => {
  const one = createPolicy('one', SHUT);
  const other = createPolicy('other', SHUT);
  const batch = {
    changes: [...one.changes, ...other.changes],
    send: async () => Promise.reject(new Error('cut off')),
    apply: (network: Parameters<typeof one.apply>[0]) => other.apply(one.apply(network)),
  };
  await one.send(world.place);
  await world.main.write(world.place, batch);
  const lies = await found();
  expect(lies).toContain('half of it is there: created MeshPolicy one, created MeshPolicy other');
  expect(lies).toContain('the audit log tells 1 times: created MeshPolicy one; it happened 0 times');
});
