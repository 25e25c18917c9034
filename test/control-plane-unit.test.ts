import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const UNIT = readFileSync('deploy/meshd.service', 'utf8');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('systemd finds nothing wrong with the unit of the control plane', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-unit-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'meshd.service');
  // It looks for the program, too.
  writeFileSync(file, UNIT.replace('/usr/local/bin/meshd', path.resolve('bin/meshd')));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([0, '', '']);
});

test('the unit keeps the data where it tells the control plane to, and gives it files enough', () => {
  const directory = /^StateDirectory=(\w+)$/m.exec(UNIT)?.[1];
  expect(UNIT).toContain(`--config-dir /var/lib/${directory}\n`);
  expect(UNIT).toMatch(/^LimitNOFILE=65536$/m);
  expect(UNIT).toMatch(/^StandardError=journal$/m);
});
