import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resolvConf } from './resolv-conf.ts';
import type { Route } from './resolver.ts';

const ROUTE: Route = { interfaceName: 'mesh0', address: '10.96.0.1', domain: 'prod.mesh.internal', reverse: [] };
const BEFORE = '# DHCP\nnameserver 192.0.2.1\nsearch corp.example\n';
const OWN = '# mesh mesh0: names of prod.mesh.internal, until the node stops\nnameserver 10.96.0.1\n';

function hostWith(text: string) {
  const directory = mkdtempSync(path.join(tmpdir(), 'resolv-conf-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = { servers: path.join(directory, 'resolv.conf'), backups: path.join(directory, 'state') };
  writeFileSync(files.servers, text);
  const backup = path.join(files.backups, 'resolv.conf-mesh0');
  return {
    files,
    backup,
    resolver: resolvConf(true, files),
    text: () => readFileSync(files.servers, 'utf8'),
    write: (next: string) => writeFileSync(files.servers, next),
  };
}

test('the node stands first in resolv.conf, with a backup beside it, until both are taken back', async () => {
  const { resolver, text, backup } = hostWith(BEFORE);
  await resolver.set(ROUTE);
  expect([text(), readFileSync(backup, 'utf8')]).toEqual([OWN + BEFORE, BEFORE]);
  expect(resolver.unasked?.(ROUTE)).toBe('');
  await resolver.unset('mesh0');
  await resolver.unset('mesh0');
  expect([text(), existsSync(backup)]).toEqual([BEFORE, false]);
});

test('another address of the node takes the place of the one before', async () => {
  const { resolver, text, backup } = hostWith(BEFORE);
  await resolver.set(ROUTE);
  await resolver.set({ ...ROUTE, address: '10.97.0.7' });
  expect(text()).toBe(OWN.replace('10.96.0.1', '10.97.0.7') + BEFORE);
  expect(readFileSync(backup, 'utf8')).toBe(BEFORE);
});

test('what other programs and other nodes wrote meanwhile stays', async () => {
  const { resolver, text, write } = hostWith(BEFORE);
  await resolver.set(ROUTE);
  await resolver.set({ ...ROUTE, interfaceName: 'mesh1', address: '10.97.0.1' });
  write(`${text()}nameserver 192.0.2.2\n`);
  await resolver.unset('mesh0');
  expect(text()).toBe(`${OWN.replace('mesh0', 'mesh1').replace('10.96', '10.97')}${BEFORE}nameserver 192.0.2.2\n`);
  await resolver.unset('mesh1');
  expect(text()).toBe(`${BEFORE}nameserver 192.0.2.2\n`);
});

test('a program that wrote the file anew is told of, with the line to add', async () => {
  const { resolver, write } = hostWith(BEFORE);
  await resolver.set(ROUTE);
  write(BEFORE);
  expect(resolver.unasked?.(ROUTE)).toMatch(
    /^another program wrote .*resolv\.conf since: .* put nameserver 10\.96\.0\.1 first in it$/,
  );
});

test.each([
  ['names no server, so that other names would be asked of nobody', 'search corp.example\n'],
  ['has "options rotate", by which other servers are asked', `${BEFORE}options timeout:1 rotate\n`],
])('a file that %s is left as it is', async (why, before) => {
  const { resolver, text, backup } = hostWith(before);
  await expect(resolver.set(ROUTE)).rejects.toThrow(why);
  expect([text(), existsSync(backup)]).toEqual([before, false]);
});

test('a link is followed, so that it is still one afterwards', async () => {
  const { files, text } = hostWith('');
  const target = path.join(path.dirname(files.servers), 'run');
  mkdirSync(target);
  rmSync(files.servers);
  symlinkSync(path.join(target, 'resolv.conf'), files.servers);
  writeFileSync(path.join(target, 'resolv.conf'), BEFORE);
  await resolvConf(true, files).set(ROUTE);
  expect([text(), readFileSync(path.join(target, 'resolv.conf'), 'utf8')]).toEqual([OWN + BEFORE, OWN + BEFORE]);
});

test('it is no way of a host that did not ask for it, and still takes back what an earlier agent wrote', async () => {
  const { resolver, files, text } = hostWith(BEFORE);
  await resolver.set(ROUTE);
  const other = resolvConf(false, files);
  expect([await resolver.isHere(), await other.isHere()]).toEqual([true, false]);
  await other.unset('mesh0');
  expect(text()).toBe(BEFORE);
});
