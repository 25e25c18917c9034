import { expect, test } from 'vitest';
import { nodeStatus } from '../test/kits/records/node-status.ts';
import { netcheckLines } from './node-netcheck.ts';

test('mesh netcheck prints a line for each part, whatever others wrote into a name, an address or a reason', async () => {
  const forged = 'x\u001B[31m\nAPI            reached\u202E';
  const way = { address: forged, isReached: false, roundTripMs: null, trouble: forged };
  const relay = { ...way, name: forged, region: forged };
  const report = {
    ipv4: { address: forged, roundTripMs: 1 },
    ipv6: { address: null, roundTripMs: null },
    nat: { kind: 'unknown', detail: forged } as const,
    silentStun: [forged],
    unresolved: [{ host: forged, trouble: forged }],
    relay: way,
    relays: [relay, relay],
    bus: way,
    api: way,
  };
  const own = { node: nodeStatus([]), shutOut: forged, directory: '/srv/node' };
  const lines = await netcheckLines(report, own);
  expect(lines.filter((line) => line.startsWith('API'))).toHaveLength(1);
  expect(lines.filter((line) => /[\p{Cc}\p{Cf}]/u.test(line))).toEqual([]);
});
