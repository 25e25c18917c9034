import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memoryOf } from '../../bench/node/process.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { witnessIn } from '../kits/process/witness.ts';

/** A bound against growth, in MB and without wireguard-go: what an idle node does hold is a figure of docs/benchmarks/node.md. */
const LIMIT_MB = 110;
/**
 * Each costs a node memory for as long as it runs: fetch, the compiler of types, the validator of the control plane, what judges
 * rules of a host that has none, and what services are.
 */
const HEAVY = [
  'internal/deps/undici/undici',
  'internal/deps/amaro/dist/index',
  'http2',
  'zod',
  './blockages.ts',
  './start-hint.ts',
];

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-idle-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describePrivileged('a node that idles', () => {
  it('has loaded nothing heavy that it does not need, and holds less than 110 MB from its second start on', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const { env, loaded } = witnessIn(directory);
    const { one } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up([], env));
    await one.untilPeer('two', (peer) => peer.path === 'direct');
    // The first start compiles what later ones read; it is written when the process ends.
    await one.down();
    await one.up([], env);
    await one.untilPeer('two', (peer) => peer.path === 'direct');
    const { rss } = memoryOf((await one.status()).node.pid);
    await one.down();
    const all = loaded();
    expect(all).toEqual(expect.arrayContaining(['commander', 'net']));
    expect(HEAVY.filter((name) => all.includes(name))).toEqual([]);
    expect(rss).toBeLessThan(LIMIT_MB);
  });
});
