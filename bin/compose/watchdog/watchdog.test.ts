import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../../test/kits/process/standing-still.ts', import.meta.url));

describe('a process whose serving thread stands still', () => {
  it('logs where it stands and ends with a code of its own under a supervisor', async () => {
    const { child, output } = start('serving', 'supervised');
    expect(await once(child, 'exit')).toEqual([70, null]);
    const lines = output()
      .split('\n')
      .filter((line) => line.includes('"part":"watchdog"'));
    // A busy machine lets it stand still elsewhere too, before it comes there.
    const here = lines.filter((line) => /"stack":\[.*"standStillInHere \(file:[^"]*standing-still/.test(line));
    expect(here.length).toBeGreaterThanOrEqual(2);
    expect(here).toContain(lines.at(-1));
  });

  it('goes on without a supervisor, and ends at once by a signal once the stall is noticed', async () => {
    const { child, output } = start('serving', 'alone');
    await expect.poll(output, { timeout: 60_000 }).toContain('"part":"watchdog"');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
  });

  it('ends without a supervisor too where a stop does not move', async () => {
    const { child, output } = start('stopping', 'alone');
    expect(await once(child, 'exit')).toEqual([70, null]);
    expect(output()).toContain('standStillInHere');
  });

  it('hears the signal itself again once it turns, and has counted the stall', async () => {
    const { child, output } = start('serving', 'alone', 1_500);
    await expect.poll(output, { timeout: 60_000 }).toContain('"part":"watchdog"');
    await expect.poll(output, { timeout: 60_000 }).toContain('turns again');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(output()).toContain('heard SIGTERM after 1 stalls');
  });
});

function start(...args: readonly (string | number)[]): { readonly child: ChildProcess; readonly output: () => string } {
  const child = spawn(process.execPath, [PROGRAM, ...args.map(String)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return { child, output: () => text };
}
