import { expect, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { isRelevantOnLinux, isRelevantOnMac, sharedWatch, watchByProgram } from './network-watch.ts';

test.each([
  ['2: eth0    inet 192.168.1.10/24 scope global eth0\\       valid_lft forever preferred_lft forever', true],
  ['Deleted 2: eth0    inet 192.168.1.10/24 scope global eth0\\       valid_lft forever', true],
  ['2: eth0    inet6 2001:db8::7/64 scope global \\       valid_lft forever preferred_lft forever', true],
  ['default via 192.168.1.1 dev eth0 ', true],
  ['Deleted default via 192.168.1.1 dev eth0 ', true],
  ['default via fe80::1 dev wlan0 proto ra metric 1024 expires 1799sec hoplimit 64 pref medium', true],
  ['7: mesh0    inet 10.96.0.1/32 scope global mesh0\\       valid_lft forever preferred_lft forever', false],
  ['1: lo    inet6 fd6c:7270::ca6c:2/128 scope global \\       valid_lft forever preferred_lft forever', false],
  ['10.96.0.0/24 dev mesh0 scope link src 10.96.0.1 ', false],
  ['local 192.168.1.10 dev eth0 table local proto kernel scope host src 192.168.1.10 ', false],
  ['', false],
])('of %j a node of the interface mesh0 hears: %s', (line, isRelevant) => {
  expect(isRelevantOnLinux(line, 'mesh0')).toBe(isRelevant);
});

test('on a Mac a route or address that came or went is heard of', () => {
  const lines = [
    'RTM_DELADDR: address being removed from iface: len 80',
    'locks:  inits: ',
    'RTM_IFINFO: iface status change',
  ];
  expect(lines.map(isRelevantOnMac)).toEqual([true, false, false]);
});

test('changes that come together are told once, and none after the end', async () => {
  let told = 0;
  const heard = Promise.withResolvers<void>();
  const watch = watchByProgram(['sh', '-c', 'echo a; echo b; echo c; exec cat'], {
    log: silentLog,
    isRelevant: (line) => line !== 'c',
    onChange: () => {
      told += 1;
      heard.resolve();
    },
  });
  await heard.promise;
  watch.stop();
  expect(told).toBe(1);
});

test('has all nodes of a process share one watcher, which runs while one of them watches', () => {
  const running = new Set<() => void>();
  const watch = sharedWatch((_name, _log, onChange) => {
    running.add(onChange);
    return { stop: () => running.delete(onChange) };
  });
  const told: string[] = [];
  const [a, b] = ['a', 'b'].map((name) => watch('mesh0', silentLog, () => told.push(name)));
  expect(running.size).toBe(1);
  for (const change of running) change();
  a?.stop();
  for (const change of running) change();
  expect(told).toEqual(['a', 'b', 'b']);
  b?.stop();
  expect(running.size).toBe(0);
  watch('mesh0', silentLog, () => {});
  expect(running.size).toBe(1);
});
