import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import type { Lookup } from '../lookup.ts';
import { KnownAddresses } from './known-addresses.ts';

const RELAY = [{ address: '192.0.2.7', family: 4 }];
const away: Lookup = () => Promise.reject(Object.assign(new Error('EAI_AGAIN'), { code: 'EAI_AGAIN' }));

function directory() {
  const name = mkdtempSync(path.join(tmpdir(), 'mesh-addresses-'));
  return { name, [Symbol.dispose]: () => rmSync(name, { recursive: true }) };
}

test('a node that starts while DNS is away finds relays and STUN servers where they were last', async () => {
  using at = directory();
  const before = new KnownAddresses(at.name, silentLog, async () => RELAY);
  expect(await before.lookup('relay.example')).toEqual(RELAY);
  await before.lookup('192.0.2.9');
  const after = new KnownAddresses(at.name, silentLog, away);
  expect(await after.lookup('relay.example')).toEqual(RELAY);
  await expect(after.lookup('other.example')).rejects.toThrow('EAI_AGAIN');
  const stored = readFileSync(path.join(at.name, 'known-addresses.json'), 'utf8');
  expect(JSON.parse(stored)).toEqual({ 'relay.example': ['192.0.2.7'] });
});

test('the last addresses of a host count while DNS is away, and for nobody while it answers', async () => {
  using at = directory();
  const up = new KnownAddresses(at.name, silentLog, async () => RELAY);
  expect(await up.lastWhileAway('bus.example')).toBeUndefined();
  await up.lookup('bus.example');
  expect(await up.lastWhileAway('bus.example')).toBeUndefined();
  const down = new KnownAddresses(at.name, silentLog, away);
  expect(await down.lastWhileAway('bus.example')).toEqual(RELAY);
  expect(await down.lastWhileAway('other.example')).toBeUndefined();
});

test('a resolver that does not answer is waited for 2 s, and what it says later counts the next time', async () => {
  using at = directory();
  writeFileSync(path.join(at.name, 'known-addresses.json'), '{"relay.example":["192.0.2.1","no address"]}');
  vi.useFakeTimers();
  try {
    const { promise, resolve } = Promise.withResolvers<typeof RELAY>();
    const known = new KnownAddresses(at.name, silentLog, () => promise);
    const first = known.lookup('relay.example');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await first).toEqual([{ address: '192.0.2.1', family: 4 }]);
    resolve(RELAY);
    await promise;
    expect(await known.lookup('relay.example')).toEqual(RELAY);
  } finally {
    vi.useRealTimers();
  }
});
