import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-compiled-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs `mesh up` where no node is registered. @returns whether the process that ended had loaded the compiler of types */
async function compiled(env: Readonly<Record<string, string>>): Promise<boolean> {
  const [witness, seen] = [path.join(directory, 'witness.cjs'), path.join(directory, 'seen')];
  writeFileSync(
    witness,
    `process.on('exit', () => {
      const isLoaded = process.moduleLoadList.some((name) => name.includes('amaro'));
      require('node:fs').writeFileSync(${JSON.stringify(seen)}, String(isLoaded));
    });`,
  );
  const args = ['--require', witness, path.resolve('bin/mesh.ts'), 'up', '--config-dir', directory];
  await new Promise((resolve) => {
    execFile(process.execPath, args, { env: { PATH: process.env['PATH'], HOME: directory, ...env } }, resolve);
  });
  return readFileSync(seen, 'utf8') === 'true';
}

test('a node that had to compile its own code begins again without the compiler, where the compiled code is kept', async () => {
  const cache = path.join(directory, 'cache');
  const first = await compiled({ NODE_COMPILE_CACHE: cache });
  const second = await compiled({ NODE_COMPILE_CACHE: cache });
  const without = await compiled({});
  expect({ first, second, without }).toEqual({ first: false, second: false, without: true });
});
