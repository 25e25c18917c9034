import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Runs a shell script under `.ci/watch`. */
async function watched(script: string, env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-watch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = path.join(folder, 'log');
  const args = ['the tier', log, 'sh', '-c', script];
  const ran = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(path.resolve('.ci/watch'), args, { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
  return { ...ran, log: readFileSync(log, 'utf8'), files: readdirSync(folder) };
}

test('what a tier writes is shown and kept, and its exit code is passed on', async () => {
  const { code, stdout, stderr, log, files } = await watched('echo one; echo two >&2; cat; exit 3');
  expect([code, stdout, stderr, log, files]).toEqual([3, 'one\ntwo\n', '', 'one\ntwo\n', ['log']]);
});

test('a tier that passed is passed', async () => {
  expect(await watched('echo fine')).toMatchObject({ code: 0, stdout: 'fine\n' });
});

test('a tier that has written nothing for a while is ended with all that it started, and named', async () => {
  const { code, stderr, log } = await watched('echo one; sleep 3600 & echo $!; sleep 3600', { SILENT_S: '4' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('the tier was ended: it wrote nothing for 4 seconds.\n')]);
  expect(log).toContain('the tier was ended: it wrote nothing');
  const started = Number(/^\d+$/m.exec(log)?.[0]);
  expect(started).toBeGreaterThan(1);
  await expect.poll(() => isRunning(started)).toBe(false);
});

test('a tier that writes on and on is ended once the time for all is over, and a result that it exits with does not count', async () => {
  const script = 'trap "exit 0" TERM; while :; do echo on; sleep 1; done';
  const { code, stderr } = await watched(script, { DEADLINE: '1' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('the tier was ended: the time for all tiers is over.\n')]);
});

test('a tier whose logs were taken away is ended: whoever asked for it is no longer there', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-watch-'));
  const script = 'echo "pid $$"; exec sleep 3600';
  const child = spawn(path.resolve('.ci/watch'), ['the tier', path.join(folder, 'log'), 'sh', '-c', script]);
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  await expect.poll(() => shown).toMatch(/pid \d+\n/);
  rmSync(folder, { recursive: true });
  expect(await once(child, 'exit')).toEqual([1, null]);
  await expect.poll(() => isRunning(Number(/pid (\d+)/.exec(shown)?.[1]))).toBe(false);
});

/** Not so for one that ended and that nobody waits for. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
