import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ProgramResult } from '../../client/run-program.ts';
import type { NodeService } from './service.ts';
import { systemd } from './systemd.ts';
import { userSystemd } from './user-systemd.ts';

const SERVICE: NodeService = {
  launcher: '/usr/local/bin/mesh',
  software: ['/opt/mesh'],
  directory: '/root/.mesh',
  isDirectoryRoots: true,
  interfaceName: 'mesh1',
  options: ['--wg-port', '51821'],
};
const RUNS = 'ActiveState=active\nUnitFileState=enabled\nMainPID=7\n';

/** A systemctl that answers as told, and the directory of its units. */
function setUp(answer: (args: readonly string[]) => Partial<ProgramResult>) {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-units-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const asked: string[] = [];
  const run = async (_file: string, args: readonly string[]) => {
    asked.push(args.slice(0, 2).join(' '));
    return { code: 0, stdout: '', stderr: '', ...answer(args) };
  };
  return { directory, file: path.join(directory, 'mesh-mesh1.service'), asked, manager: systemd(run, directory) };
}

test('the unit that was there before can be put back, and runs again where it ran', async () => {
  const { file, asked, manager } = setUp(([verb]) => (verb === 'show' ? { stdout: RUNS } : {}));
  writeFileSync(file, 'the one before');
  const putBack = await manager.install(SERVICE);
  expect(readFileSync(file, 'utf8')).toContain('--wg-port 51821');
  asked.length = 0;
  await putBack?.();
  expect(readFileSync(file, 'utf8')).toBe('the one before');
  expect(asked).toEqual(['daemon-reload', 'enable mesh-mesh1.service', 'restart mesh-mesh1.service']);
});

test('the unit that was there before is back where systemd does not take the new one, and rests where it rested', async () => {
  const { file, asked, manager } = setUp(([verb]) => {
    if (verb === 'show') return { stdout: 'ActiveState=inactive\nUnitFileState=disabled\nMainPID=0\n' };
    return verb === 'restart' ? { code: 1, stderr: 'no such program\n' } : {};
  });
  writeFileSync(file, 'the one before');
  await expect(manager.install(SERVICE)).rejects.toThrow(
    'systemctl restart mesh-mesh1.service failed: no such program',
  );
  expect(readFileSync(file, 'utf8')).toBe('the one before');
  expect(asked.slice(-2)).toEqual(['disable mesh-mesh1.service', 'stop mesh-mesh1.service']);
});

test('where there was no unit there is nothing to put back', async () => {
  expect(await setUp(() => ({})).manager.install(SERVICE)).toBeUndefined();
});

test('a service is found by the directory of its node, whatever its interface is, and a unit of another is none', async () => {
  const { directory, manager } = setUp(() => ({}));
  writeFileSync(
    path.join(directory, 'mesh-other.service'),
    'ExecStart=mesh up --config-dir /srv/mesh --interface other',
  );
  writeFileSync(path.join(directory, 'meshd.service'), 'ExecStart=meshd --config-dir /root/.mesh --standalone');
  expect(manager.find('/root/.mesh')).toBeUndefined();
  await manager.install(SERVICE);
  // Units of others that cannot be read.
  symlinkSync('/nowhere', path.join(directory, 'mesh-gone.service'));
  mkdirSync(path.join(directory, 'mesh-odd.service'));
  expect([manager.find('/root/.mesh'), manager.find('/srv/mesh')]).toEqual(['mesh1', 'other']);
});

test('a unit that is taken away is not remembered as one that failed', async () => {
  const { file, asked, manager } = setUp(() => ({}));
  writeFileSync(file, '');
  await manager.uninstall('mesh1');
  expect(asked).toEqual(['disable --now', 'daemon-reload', 'reset-failed mesh-mesh1.service']);
});

test('a service of a user is asked for of the systemd of that user, and of the machine is not', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const asked: string[] = [];
  const run = async (file: string, [runtime = '', ...args]: readonly string[]) => {
    asked.push([file, runtime.split('=')[0], ...args.slice(0, 3)].join(' '));
    return { code: 0, stdout: RUNS, stderr: '' };
  };
  const manager = userSystemd(run, path.join(home, 'systemd/user'));
  await manager.install(SERVICE);
  expect(manager.find(SERVICE.directory)).toBe('mesh1');
  expect((await manager.status('mesh1')).state).toBe('running');
  expect(asked[0]).toBe('env XDG_RUNTIME_DIR systemctl --user daemon-reload');
  expect(asked.every((line) => line.startsWith('env XDG_RUNTIME_DIR systemctl --user '))).toBe(true);
  expect(manager.logHint('mesh1')).toBe('journalctl --user -u mesh-mesh1.service');
});
