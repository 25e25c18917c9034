import { expect, test } from 'vitest';
import { randomOf } from '../faults/random.ts';
import { violationsIn } from '../histories/check.ts';
import { runClients } from '../histories/clients.ts';
import { logOf } from '../histories/log.ts';
import { FIRST_ADMIN, startHarness } from '../kits/http/harness.ts';

const SEED = 20_261_126;

test('whatever clients of a workspace write and read at once, there is one order in which all of it is so', async () => {
  await using harness = await startHarness({
    config: { app: { rateLimit: 100_000, initAdmins: [FIRST_ADMIN] } },
  });
  const place = await harness.workspace();
  const history = await runClients({
    send: (method, route, body) =>
      harness.api(method, `/api/v1${route}`, { ...place, ...(body !== undefined && { body }) }),
    random: randomOf(SEED),
    clients: 8,
    operations: 30,
  });
  expect(violationsIn(history, await logOf(harness.plane.services.store, place.workspace))).toEqual([]);
  const outcomes = Map.groupBy(history, (each) =>
    each.op === 'read' ? 'read' : JSON.stringify(each.outcome).slice(0, 6),
  );
  expect([...outcomes.keys()].toSorted()).toEqual(['"done"', '"refus', 'read', '{"done']);
});
