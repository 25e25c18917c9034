import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readJwt } from '../../net/bus/jwt.ts';
import { writeBusConfig } from './bus-config.ts';
import { readBusKeys } from './bus-keys.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-bus-config-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const made = (servers: readonly string[]) => writeBusConfig({ directory, servers, now: 1_000 });
const text = (name: string) => readFileSync(path.join(directory, name), 'utf8');

test('each server gets its configuration, all the same accounts, and the control plane its keys, which others cannot read', () => {
  const told = made(['n1.example.net', 'n2.example.net:4333', '[2001:db8::1]:4222']);
  expect(readdirSync(directory).sort()).toEqual([
    'accounts.conf',
    'mesh-bus.json',
    'operator.seed',
    'server-1.conf',
    'server-2.conf',
    'server-3.conf',
  ]);
  for (const name of readdirSync(directory)) expect(statSync(path.join(directory, name)).mode & 0o077).toBe(0);
  expect(told).toContain('MESH_BUS_URL=tls://n1.example.net:4222,tls://n2.example.net:4333,tls://[2001:db8::1]:4222');
  expect(told).toContain('install -d -o nats -m 0700 /etc/nats /var/lib/nats/accounts\n');
  expect(told).toContain('install -o nats -m 0400 accounts.conf server-<n>.conf tls.crt tls.key /etc/nats/\n');
  expect(text('server-2.conf')).toContain('client_advertise: "n2.example.net:4333"');
  const keys = readBusKeys(path.join(directory, 'mesh-bus.json'));
  expect(text('accounts.conf')).toContain(keys.account);
  expect(readJwt(keys.plane.jwt)?.nats).toMatchObject({ issuer_account: keys.account });
  for (const secret of [text('operator.seed').trim(), keys.plane.seed, keys.system.seed]) {
    expect([told, text('accounts.conf'), text('server-1.conf')].join()).not.toContain(secret);
  }
});

test('those of one host have ports and folders apart, and each knows the route to every other', () => {
  const told = made(['n1.example.net:4222', 'n1.example.net:4223', 'n1.example.net:4224', 'n2.example.net']);
  expect(told).toContain('/var/lib/nats/accounts /var/lib/nats/accounts-2 /var/lib/nats/accounts-3\n');
  const configs = [1, 2, 3, 4].map((n) => text(`server-${n}.conf`));
  const ofEach = (what: RegExp) => configs.map((config) => what.exec(config)?.[1]);
  expect(ofEach(/^listen: "0\.0\.0\.0:(\d+)"/m)).toEqual(['4222', '4223', '4224', '4222']);
  expect(ofEach(/^ {2}listen: "0\.0\.0\.0:(\d+)"/m)).toEqual(['6222', '6223', '6224', '6222']);
  expect(ofEach(/dir: "([^"]+)"/)).toEqual([
    '/var/lib/nats/accounts',
    '/var/lib/nats/accounts-2',
    '/var/lib/nats/accounts-3',
    '/var/lib/nats/accounts',
  ]);
  for (const config of configs)
    expect([...config.matchAll(/@(\S+)"/g)].map(([, place]) => place)).toEqual([
      'n1.example.net:6222',
      'n1.example.net:6223',
      'n1.example.net:6224',
      'n2.example.net:6222',
    ]);
});

test.each([[['a', 'a:4222']], [['a:4223', 'a:4223']]])(
  '%s is refused: two servers would listen at one place',
  (servers) => {
    expect(() => made(servers)).toThrow(/a:422[23] is named twice: give each server of one host another port/);
    expect(readdirSync(directory)).toEqual([]);
  },
);

test('keys that are there already are not replaced: other ones would shut out all nodes', () => {
  made(['a']);
  const before = text('mesh-bus.json');
  expect(() => made(['a'])).toThrow('is there already');
  expect(text('mesh-bus.json')).toBe(before);
});

test('what is no server is refused before anything is written', () => {
  expect(() => made(['a', 'nats://b:4222'])).toThrow('nats://b:4222 is no server');
  expect(readdirSync(directory)).toEqual([]);
});

test.each([
  ['{', 'is no JSON'],
  ['{}', 'is not what `meshd bus-config` wrote (version'],
  ['{"version":1,"account":"A","users":"SECRET","accounts":"SECRET"}', 'users is no seed of an NKey for accounts'],
])('a keys file %s is refused without a word of what it holds', (content, why) => {
  const file = path.join(directory, 'keys.json');
  writeFileSync(file, content, { mode: 0o600 });
  expect(() => readBusKeys(file)).toThrow(why);
  expect(() => readBusKeys(file)).not.toThrow('SECRET');
});

test('a keys file that others can read is refused', () => {
  made(['a']);
  const file = path.join(directory, 'open.json');
  writeFileSync(file, text('mesh-bus.json'), { mode: 0o644 });
  expect(() => readBusKeys(file)).toThrow(`chmod 600 ${file}`);
});
