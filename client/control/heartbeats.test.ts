import { expect, test } from 'vitest';
import { Heartbeats } from './heartbeats.ts';
import { beatIntervalMs } from './standing.ts';

const NEVER = { wire: undefined, heartbeat: () => Promise.reject(new Error('The bus is up.')) };

test('a control plane that does not know this process again and again, as one that is restarted, says nothing of the key', async () => {
  const beats = new Heartbeats(
    { isUp: true, beat: async (content: object) => ('echo' in content ? { version: 1 } : { challenge: 'c' }) },
    NEVER,
    undefined,
  );
  for (let count = 0; count < 8; count += 1) {
    await beats.beat();
    expect(beats.isKeyShared).toBe(false);
  }
});

test('a control plane that names another process of the key is believed at once, and until that one is gone', async () => {
  const answers = [{ challenge: 'c', superseded: true }, ...Array.from({ length: 7 }, () => ({}))];
  const beats = new Heartbeats(
    {
      isUp: true,
      beat: async (content: object) => ('echo' in content ? { version: 1 } : { version: 1, ...answers.shift() }),
    },
    NEVER,
    undefined,
  );
  const shared: boolean[] = [];
  for (let count = 0; count < 8; count += 1) {
    await beats.beat();
    shared.push(beats.isKeyShared);
  }
  expect(shared).toEqual([true, true, true, true, true, true, false, false]);
});

test('a node beats each 15 s once the control plane speaks version 3 of the wire, on the bus or over HTTP, and each 30 s otherwise', async () => {
  const bus = { isUp: true, beat: async () => ({ version: 1, wire: '1-3' }) };
  const api = { wire: 2, heartbeat: async () => ({ phase: 'ready', version: 1 }) };
  const beats = new Heartbeats(bus, api, undefined);
  const intervals = [beatIntervalMs('ready', beats.wire)];
  await beats.beat();
  intervals.push(beatIntervalMs('ready', beats.wire));
  bus.isUp = false;
  await beats.beat();
  intervals.push(beatIntervalMs('ready', beats.wire));
  api.wire = 3;
  await beats.beat();
  intervals.push(beatIntervalMs('ready', beats.wire));
  expect(intervals).toEqual([30_000, 15_000, 30_000, 15_000]);
});
