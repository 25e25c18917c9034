import { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EXIT } from './exit.ts';
import { reportFailure } from './failure.ts';

const asked = { program: new Command('mesh'), args: [], format: 'table' } as const;

test('a command that needs its working directory, which was deleted, says so and what to do', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const error = Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), { syscall: 'uv_cwd' });
  expect(await reportFailure(error, asked)).toBe(EXIT.input);
  expect(written.mock.calls).toEqual([
    ['The directory that this was run in was deleted: change to another one (cd), and run it again.\n'],
  ]);
});

test('a failure that nobody foresaw is thrown on', async () => {
  const error = new Error('what is this');
  await expect(reportFailure(error, asked)).rejects.toBe(error);
});
