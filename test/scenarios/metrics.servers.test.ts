import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { isInstalled } from '../kits/process/needs.ts';

const promtool = (args: readonly string[], input = '') => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
};

test.skipIf(!isInstalled('promtool'))(
  'Prometheus itself finds nothing wrong with the metrics of a running control plane',
  async () => {
    await using plane = await startWiredPlane();
    await plane.join('a');
    const { text } = await plane.harness.api('GET', '/metrics');
    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, said: '' });
  },
);

test.skipIf(!isInstalled('promtool'))(
  'Prometheus accepts the alert rules, and each fires in the case that it is for',
  () => {
    expect(promtool(['check', 'rules', 'deploy/prometheus/mesh.rules.yml']).status).toBe(0);
    const judged = promtool(['test', 'rules', 'test/scenarios/mesh.rules.test.yml']);
    expect([judged.status, judged.said]).toEqual([0, expect.stringContaining('SUCCESS')]);
  },
);
