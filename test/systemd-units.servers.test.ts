import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemdUnit } from '../cli/service/systemd-unit.ts';
import { isInstalled } from './kits/process/needs.ts';

function freshFolder(prefix: string): string {
  const directory = mkdtempSync(path.join(tmpdir(), prefix));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

describe.skipIf(!isInstalled('systemd-analyze'))('systemd finds no fault', () => {
  test.each(['meshd.service', 'meshd-cluster.service', 'meshd@.service'])('in %s', (name) => {
    const file = path.join(freshFolder('mesh-unit-'), name.replace('@', '@relay'));
    const unit = readFileSync(path.join('deploy', name), 'utf8');
    // It looks for the program, too.
    writeFileSync(file, unit.replace('ExecStart=meshd', `ExecStart=${path.resolve('bin/meshd')}`));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  });

  test('in the unit of a node with odd paths and options', () => {
    const directory = freshFolder('mesh unit $HOME %h ');
    const launcher = path.join(directory, 'mesh');
    writeFileSync(launcher, '#!/bin/sh\n', { mode: 0o755 });
    const file = path.join(directory, 'mesh.service');
    const options = ['--name', `a "b" 'c' %h $HOME \\ ; :`];
    for (const place of [directory, '/srv/a b%h$x'])
      for (const installation of [directory, '/opt/mesh']) {
        const node = {
          launcher,
          software: [installation, process.execPath],
          directory: place,
          isDirectoryRoots: true,
          interfaceName: 'mesh0',
          options,
        };
        writeFileSync(file, systemdUnit(node));
        const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
        expect([status, stderr.split('\n').filter((line) => line.includes('mesh.service'))]).toEqual([0, []]);
      }
  });
});
