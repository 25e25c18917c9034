import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { launcher } from '../kits/process/run-command.ts';

const TIMES = 3;

let programs: string;
beforeEach(() => {
  programs = mkdtempSync('/tmp/failing-');
});
afterEach(() => rmSync(programs, { recursive: true }));

/** The environment of a host whose wireguard-go says its version and then does this; it has no WireGuard in the kernel. */
function envWith(script: string): { readonly PATH: string } {
  const write = (program: string, text: string) =>
    writeFileSync(path.join(programs, program), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  write('wireguard-go', `[ "$1" = --version ] && { echo wireguard-go v0.0.20230223; exit; }\n${script}`);
  write('ip', `case "$*" in *"type wireguard"*) exit 2;; esac\nexec ${systemProgram('ip')} "$@"`);
  return { PATH: `${programs}:${process.env['PATH']}` };
}

function systemProgram(name: string): string {
  const directories = (process.env['PATH'] ?? '').split(':');
  return directories.map((directory) => path.join(directory, name)).find((file) => existsSync(file)) ?? name;
}

describePrivileged('a node whose wireguard-go', () => {
  it.each(['exit 1', 'exit 0'])('does "%s" ends its start and says why, each time', async (script) => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    const env = envWith(script);
    for (let time = 0; time < TIMES; time += 1) {
      const up = ['up', '--daemon', '--interface', a.interfaceName, '--log-dir', programs];
      const { code, stderr } = await a.mesh(up, { env });
      expect([code, stderr]).toEqual([7, expect.stringContaining(`wireguard-go ended with ${script.slice(-1)}.`)]);
      expect((await a.mesh(['status'])).stderr).toContain('This node is not up');
    }
  });

  it('never answers lets a node end by a signal at once', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    const env = envWith(`touch ${programs}/started\nexec sleep 1000`);
    const args = ['up', '--config-dir', a.directory, '--interface', a.interfaceName];
    const child = a.host.spawn(launcher('mesh'), args, { ...env, HOME: a.directory });
    child.stdout?.resume();
    child.stderr?.resume();
    const closed = once(child, 'close');
    await expect.poll(() => existsSync(path.join(programs, 'started')), { timeout: 30_000, interval: 20 }).toBe(true);
    const from = performance.now();
    child.kill('SIGTERM');
    expect((await closed)[0]).toBe(0);
    expect(performance.now() - from).toBeLessThan(4_000);
  });
});
