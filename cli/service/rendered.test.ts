import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { launchdPlist } from './launchd.ts';
import type { NodeService } from './service.ts';
import { systemdUnit, userUnit } from './systemd-unit.ts';

const USUAL: NodeService = {
  launcher: '/usr/local/bin/mesh',
  software: ['/usr/local/lib/node_modules/mesh', '/usr/local/bin/node'],
  directory: '/root/.mesh',
  isDirectoryRoots: true,
  interfaceName: 'mesh0',
  options: [],
};
const lineOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(`${name}=`));

describe('the unit of a node', () => {
  test('is the one in deploy/ where everything is as usual', () => {
    expect(readFileSync('deploy/mesh.service', 'utf8')).toBe(systemdUnit(USUAL));
  });

  test('sees of homes its own directory alone, and the software where that lies in one', () => {
    const home = systemdUnit({
      ...USUAL,
      directory: '/home/ada/.mesh',
      software: ['/home/ada/my mesh', '/home/ada/.nvm/bin/node'],
    });
    expect(lineOf(home, 'BindPaths')).toEqual(['BindPaths=/home/ada/.mesh']);
    expect(lineOf(home, 'BindReadOnlyPaths')).toEqual([
      'BindReadOnlyPaths="/home/ada/my mesh"',
      'BindReadOnlyPaths=/home/ada/.nvm/bin/node',
    ]);
    const elsewhere = systemdUnit({ ...USUAL, directory: '/srv/mesh' });
    expect([lineOf(elsewhere, 'BindPaths'), lineOf(elsewhere, 'BindReadOnlyPaths')]).toEqual([[], []]);
    expect(elsewhere).toContain('\nReadWritePaths=/srv/mesh\n');
  });

  test('may read the files of another user where its directory is theirs, and not otherwise', () => {
    const capabilities = (isDirectoryRoots: boolean) =>
      lineOf(systemdUnit({ ...USUAL, isDirectoryRoots }), 'CapabilityBoundingSet');
    expect([capabilities(true), capabilities(false)]).toEqual([
      ['CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_BIND_SERVICE'],
      ['CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_DAC_OVERRIDE'],
    ]);
  });

  test('may write what ufw and firewalld keep where it is to open the firewall of the host, and not otherwise', () => {
    const lines = (options: readonly string[]) =>
      ['ReadWritePaths', 'ExecStartPre'].flatMap((name) => lineOf(systemdUnit({ ...USUAL, options }), name));
    const resolvers = 'ReadWritePaths=-/etc/NetworkManager/dnsmasq.d -/run/resolvconf';
    expect(lines([])).toEqual([resolvers]);
    expect(lines(['--open-firewall'])).toEqual([
      resolvers,
      'ReadWritePaths=-/etc/ufw -/etc/firewalld -/run/ufw.lock -/run/xtables.lock',
      'ExecStartPre=+-/bin/touch /run/ufw.lock /run/xtables.lock',
    ]);
  });

  test('may write resolv.conf where the node is to, and not otherwise', () => {
    const [line] = lineOf(systemdUnit({ ...USUAL, options: ['--write-resolv-conf'] }), 'ReadWritePaths');
    expect(line).toBe('ReadWritePaths=-/etc/NetworkManager/dnsmasq.d -/run/resolvconf -/etc/resolv.conf');
  });

  test('passes options on as they are, whatever systemd would read in them', () => {
    const [line] = lineOf(systemdUnit({ ...USUAL, options: ['--name', 'a "b" %h $HOME'] }), 'ExecStart');
    expect(line).toMatch(/ --name "a \\"b\\" %%h \$\$HOME"$/);
  });
});

test('the unit of a user starts the node in userspace mode, asks for no rights, and starts when the user logs in', () => {
  const unit = userUnit({ ...USUAL, directory: '/home/ada/.mesh', options: ['--proxy', '127.0.0.1:0'] });
  expect(lineOf(unit, 'ExecStart')).toEqual([
    'ExecStart=/usr/local/bin/mesh up --userspace --config-dir /home/ada/.mesh --interface mesh0 --proxy 127.0.0.1:0',
  ]);
  expect(lineOf(unit, 'WantedBy')).toEqual(['WantedBy=default.target']);
  expect(unit).not.toMatch(/Capabilit|Device|Protect|BindPaths/);
});

test('a path stands in a unit as it is, but for its specifiers, and in an argument variables stand for themselves', () => {
  const unit = systemdUnit({ ...USUAL, launcher: '/opt/$a%h/mesh', directory: '/srv/$b%h' });
  expect(lineOf(unit, 'ExecStart')[0]).toMatch(/^ExecStart=\/opt\/\$a%%h\/mesh up --config-dir \/srv\/\$\$b%%h /);
  expect(unit).toContain('\nReadWritePaths=/srv/$b%%h\n');
});

test('the property list of launchd has each word of the command as text', () => {
  const plist = launchdPlist({ ...USUAL, options: ['--name', 'a<&>b'] });
  const words = [...plist.matchAll(/^ {4}<string>(.*)<\/string>$/gm)].map(([, word]) => word);
  expect(words).toEqual([
    ...[
      '/usr/local/bin/mesh',
      'up',
      '--config-dir',
      '/root/.mesh',
      '--interface',
      'mesh0',
      '--name',
      'a&lt;&amp;&gt;b',
    ],
  ]);
  expect(plist).toContain('<key>Label</key><string>internal.mesh.mesh0</string>');
});
