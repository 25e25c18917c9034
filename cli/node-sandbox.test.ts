import { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { NodeEnd, NodeLauncher, SandboxOptions } from '../client/agent/launch.ts';
import { EXIT } from './exit.ts';
import { reportFailure } from './failure.ts';
import { defineSandbox } from './node-sandbox.ts';

/** Runs `mesh sandbox start` where the sandbox ends so. @returns the exit code and the lines on standard error */
async function start(words: readonly string[], end: NodeEnd): Promise<[number, string[]]> {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const runSandbox = async ({ onEnrolled }: SandboxOptions) => {
    onEnrolled({ config: { name: 'scraper' }, phase: 'ready' } as Parameters<typeof onEnrolled>[0]);
    return end;
  };
  const program = new Command('mesh').exitOverride();
  program.configureOutput({ outputError: () => {} });
  const loadLauncher = async () => ({ runSandbox }) as unknown as NodeLauncher;
  const sandbox = program.command('sandbox');
  const args = ['sandbox', 'start', '--token', 'mesh-dlg-x', '--server', 'http://localhost:1', ...words];
  defineSandbox(sandbox, { words: args, version: '', loadLauncher, loadAuditStore: () => Promise.reject(new Error()) });
  for (const command of sandbox.commands) command.configureOutput({ outputError: () => {} });
  const error: unknown = await program.parseAsync(args, { from: 'user' }).catch((thrown: unknown) => thrown);
  const format = words.includes('--json') ? 'json' : 'table';
  const code = await reportFailure(error, { program, args, format });
  return [code, written.mock.calls.map(([text]) => String(text).trimEnd())];
}

test('a sandbox whose time is over says so in one line', async () => {
  expect(await start(['--', 'true'], { why: 'expired' })).toEqual([EXIT.conflict, ['The time of scraper is over.']]);
});

test('with --json a sandbox whose time is over ends with the failure as one object', async () => {
  const [code, lines] = await start(['--json', '--', 'true'], { why: 'expired' });
  expect([code, lines.map((line) => JSON.parse(line) as unknown)]).toEqual([
    EXIT.conflict,
    [{ code: 'expired', detail: 'The time of scraper is over.', exitCode: EXIT.conflict }],
  ]);
});

test('an option of the command that a sandbox runs is answered with where -- belongs', async () => {
  expect(await start(['sh', '-c', 'true'], { why: 'asked' })).toEqual([
    EXIT.input,
    [expect.stringMatching(/^unknown option '-c'\. .*put -- before that command/)],
  ]);
});
