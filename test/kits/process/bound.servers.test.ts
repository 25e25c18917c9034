import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canBind } from './bound.ts';

const BOUND = path.resolve(import.meta.dirname, 'bound.ts');

test.skipIf(!canBind)('what a process starts and the folder that it makes end with it, were it killed', async () => {
  const parent = mkdtempSync(path.join(tmpdir(), 'mesh-bound-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const file = path.join(parent, 'starts.ts');
  writeFileSync(
    file,
    `import { spawn } from 'node:child_process';
    import { bound, boundFolder } from ${JSON.stringify(BOUND)};
    const folder = boundFolder(${JSON.stringify(parent)}, 'made-');
    const { pid } = spawn(...bound('sleep', ['300']), { stdio: 'ignore' });
    console.log(JSON.stringify({ folder, pid }));`,
  );
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(child.stdout, 'data');
  const { folder, pid } = JSON.parse(String(said)) as { folder: string; pid: number };
  expect([existsSync(folder), isRunning(pid)]).toEqual([true, true]);
  child.kill('SIGKILL');
  await expect.poll(() => [existsSync(folder), isRunning(pid)]).toEqual([false, false]);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
