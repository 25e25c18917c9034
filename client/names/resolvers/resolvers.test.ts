import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { darwinResolver } from './darwin.ts';
import { networkManager } from './network-manager.ts';
import { openresolv } from './openresolv.ts';
import type { HostResolver, Route, Run } from './resolver.ts';
import { systemdResolved } from './systemd-resolved.ts';

const ROUTE: Route = {
  interfaceName: 'mesh0',
  address: '10.96.0.1',
  domain: 'prod.mesh.internal',
  reverse: ['0.96.10.in-addr.arpa'],
};

function freshDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'names-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A host whose programs say what they are told to. */
function hostThat(says: Readonly<Record<string, string>>): { run: Run; calls: string[] } {
  const calls: string[] = [];
  const run: Run = async (file, args, { stdin = '' } = {}) => {
    const call = [file, ...args].join(' ');
    calls.push(stdin ? `${call} < ${stdin}` : call);
    const stdout = Object.entries(says).find(([begin]) => call.startsWith(begin))?.[1];
    return stdout === undefined ? { code: 1, stdout: '', stderr: 'no' } : { code: 0, stdout, stderr: '' };
  };
  return { run, calls };
}

async function setAndUnset(resolver: HostResolver): Promise<void> {
  await resolver.set(ROUTE);
  await resolver.unset('mesh0');
}

test('systemd-resolved asks the node for its domains on the link alone, in clear and unsigned', async () => {
  const { run, calls } = hostThat({ resolvectl: '' });
  await setAndUnset(systemdResolved(run));
  expect(calls).toEqual([
    'resolvectl dns mesh0 10.96.0.1',
    'resolvectl domain mesh0 prod.mesh.internal ~0.96.10.in-addr.arpa',
    'resolvectl default-route mesh0 no',
    'resolvectl llmnr mesh0 no',
    'resolvectl mdns mesh0 no',
    'resolvectl dnssec mesh0 no',
    'resolvectl dnsovertls mesh0 no',
    'resolvectl revert mesh0',
  ]);
});

describe('that programs ask systemd-resolved', () => {
  test.each([
    ['by the stub that resolv.conf names', 'nameserver 127.0.0.53\n', 'files dns', ''],
    ['by the libc, whatever resolv.conf names', 'nameserver 192.0.2.1\n', 'files resolve [!UNAVAIL=return] dns', ''],
    ['not, but the node itself', 'nameserver 10.96.0.1\n', 'files dns', ''],
    [
      'not, but another server',
      '# DHCP\nnameserver 192.0.2.1\nnameserver 127.0.0.53\n',
      'files dns',
      'have 192.0.2.1 ask 10.96.0.1 for prod.mesh.internal',
    ],
  ])('is known: %s', (_how, resolvConf, hosts, said) => {
    const directory = freshDirectory();
    const files = { servers: path.join(directory, 'resolv.conf'), sources: path.join(directory, 'nsswitch.conf') };
    writeFileSync(files.servers, resolvConf);
    writeFileSync(files.sources, `passwd: files\nhosts: ${hosts}\n`);
    const unasked = systemdResolved(hostThat({}).run, files).unasked?.(ROUTE) ?? 'not looked at';
    expect(unasked.split(', or ').at(-1)).toBe(said);
  });
});

test('resolvconf gets a private interface, and is used where it knows of such', async () => {
  const { run, calls } = hostThat({ 'resolvconf --version': 'openresolv 3.12.0\n', 'resolvconf -': '' });
  const resolver = openresolv(run);
  expect(await resolver.isHere()).toBe(true);
  await setAndUnset(resolver);
  expect(calls.slice(1)).toEqual([
    'resolvconf -p -a mesh0 < domain prod.mesh.internal\nsearch prod.mesh.internal 0.96.10.in-addr.arpa\nnameserver 10.96.0.1\n',
    'resolvconf -f -d mesh0',
  ]);
  expect(await openresolv(hostThat({ 'resolvconf --version': '' }).run).isHere()).toBe(false);
});

describe('NetworkManager', () => {
  test('is used where it has a dnsmasq of its own', async () => {
    expect(await networkManager(hostThat({ busctl: 's "dnsmasq"\n' }).run).isHere()).toBe(true);
    expect(await networkManager(hostThat({ busctl: 's "default"\n' }).run).isHere()).toBe(false);
  });

  test('gets a file that goes with the node, and reads it both times', async () => {
    const directory = freshDirectory();
    const { run, calls } = hostThat({ nmcli: '' });
    const resolver = networkManager(run, directory);
    await resolver.set(ROUTE);
    expect(readFileSync(path.join(directory, 'mesh-mesh0.conf'), 'utf8')).toContain(
      'server=/prod.mesh.internal/10.96.0.1\nserver=/0.96.10.in-addr.arpa/10.96.0.1\n',
    );
    await resolver.unset('mesh0');
    await resolver.unset('mesh0');
    expect([readdirSync(directory), calls]).toEqual([[], Array(2).fill('nmcli general reload dns-full')]);
  });
});

test('macOS gets a file for each domain, and loses those of this interface alone', async () => {
  const directory = freshDirectory();
  writeFileSync(path.join(directory, 'corp.example'), 'nameserver 192.0.2.1\n');
  const resolver = darwinResolver(directory);
  await resolver.set(ROUTE);
  expect(readdirSync(directory).sort()).toEqual(['0.96.10.in-addr.arpa', 'corp.example', 'prod.mesh.internal']);
  await resolver.unset('mesh1');
  expect(readFileSync(path.join(directory, 'prod.mesh.internal'), 'utf8')).toBe(
    '# mesh mesh0\nnameserver 10.96.0.1\ntimeout 2\n',
  );
  await resolver.unset('mesh0');
  expect(readdirSync(directory)).toEqual(['corp.example']);
});

test('a host that refuses is quoted', async () => {
  await expect(systemdResolved(hostThat({}).run).set(ROUTE)).rejects.toThrow(
    'resolvectl dns mesh0 10.96.0.1 failed: no',
  );
});
