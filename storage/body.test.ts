import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a thread packs what the process packs, and one that is terminated while it packs and reads takes nobody along', async () => {
  const program = fileURLToPath(new URL('./body-thread.testkit.ts', import.meta.url));
  expect(await promisify(execFile)(process.execPath, [program])).toEqual({ stdout: 'equal\n', stderr: '' });
});
