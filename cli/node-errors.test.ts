import { expect, test } from 'vitest';
import { NodeRefusal } from '../client/agent/launch.ts';
import { CliError, EXIT } from './exit.ts';
import { asCliError, exitCodeOfEnd } from './node-errors.ts';

test.each([
  ['no-tunnel', EXIT.needsRoot],
  ['not-configured', EXIT.notFound],
  ['in-use', EXIT.conflict],
  ['no-program', EXIT.input],
  ['no-namespace', EXIT.unavailable],
  ['wrong-setting', EXIT.input],
  ['not-written', EXIT.unavailable],
] as const)('a node that does not run here for %s ends the command with %i', (reason, exitCode) => {
  const told = asCliError(new NodeRefusal(reason, 'why'));
  expect(told).toBeInstanceOf(CliError);
  expect(told).toMatchObject({ message: 'why', exitCode });
});

test('the exit code says why a node ended, and is that of its task where it has one', () => {
  const ends = (['asked', 'failed', 'expired', 'removed'] as const).map((why) => exitCodeOfEnd({ why }));
  expect(ends).toEqual([EXIT.ok, EXIT.unavailable, EXIT.conflict, EXIT.notFound]);
  expect(exitCodeOfEnd({ why: 'task', exitCode: 42 })).toBe(42);
});
