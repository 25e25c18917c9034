import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { KnownPeers } from './known-peers.ts';

const HOME = { address: '198.51.100.7', port: 51_820 };
const V6 = { address: '2001:db8::7', port: 4_474 };
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-known-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('the next process knows who was met, and where each was reached', () => {
  const known = new KnownPeers(directory, silentLog);
  known.remember('a', [HOME, V6]);
  known.remember('b', []);
  known.flush();
  expect([...new KnownPeers(directory, silentLog).all]).toEqual([
    ['a', [HOME, V6]],
    ['b', []],
  ]);
  expect(statSync(path.join(directory, 'known-peers.json')).mode & 0o777).toBe(0o600);
});

test('a peer that left the graph is known no more', () => {
  const known = new KnownPeers(directory, silentLog);
  known.remember('a', [HOME]);
  known.remember('b', [V6]);
  known.keep(new Set(['b']));
  known.flush();
  expect([...new KnownPeers(directory, silentLog).all.keys()]).toEqual(['b']);
});

test.each(['', '{', '[]', 'null', '{"a":"x"}', '{"a":["nonsense"]}'])('a file that holds %j does no harm', (text) => {
  writeFileSync(path.join(directory, 'known-peers.json'), text);
  expect([...new KnownPeers(directory, silentLog).all.values()].flat()).toEqual([]);
});
