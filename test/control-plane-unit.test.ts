import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

describe.each(['meshd.service', 'meshd-cluster.service'])('%s', (name) => {
  const unit = readFileSync(path.join('deploy', name), 'utf8');

  test('keeps the data where it tells the control plane to, and gives it files enough', () => {
    const directory = /^StateDirectory=(\w+)$/m.exec(unit)?.[1];
    expect(unit).toContain(`--config-dir /var/lib/${directory}\n`);
    expect(unit).toMatch(/^LimitNOFILE=65536$/m);
    expect(unit).toMatch(/^StandardError=journal$/m);
  });
});

test('the two units differ in where the store and the keys are, and in nothing else', () => {
  const lines = (name: string) => new Set(readFileSync(path.join('deploy', name), 'utf8').split('\n'));
  const [alone, member] = [lines('meshd.service'), lines('meshd-cluster.service')];
  const others = [...alone.symmetricDifference(member)].filter((line) => !line.startsWith('#'));
  expect(others.map((line) => line.split(/[ =]/, 2).join('=')).sort()).toEqual([
    'Description=Mesh',
    'Description=Mesh',
    'Environment=MESH_BUS_KEYS_FILE',
    'Environment=MESH_KEYS_FILE',
    'EnvironmentFile=/etc/mesh/meshd.env',
    'ExecStart=meshd',
    'ExecStart=meshd',
    'LoadCredential=mesh-bus.json:/etc/mesh/mesh-bus.json',
    'LoadCredential=mesh-keys.json:/etc/mesh/mesh-keys.json',
  ]);
});
