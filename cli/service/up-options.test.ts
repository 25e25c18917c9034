import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { EXIT } from '../exit.ts';
import { requireUpOptions, withUpOptions } from './up-options.ts';

test('options of mesh up are taken as mesh up takes them', async () => {
  await requireUpOptions([]);
  await requireUpOptions([
    '--wg-port',
    '51821',
    '--level=debug',
    '--open-firewall',
    '--no-dns',
    '--rotate-key-after',
    '90d',
  ]);
});

test.each([
  [['--bogus'], "unknown option '--bogus'"],
  [['--wg-port', 'x'], 'It is a UDP port from 1 to 65535'],
  [['--level', 'loud'], "argument 'loud' is invalid"],
  [['word'], 'too many arguments'],
  [['--no-dns', '--write-resolv-conf'], "'--write-resolv-conf' cannot be used with option '--no-dns'"],
  [['--help'], 'a service shows no help'],
  [['--daemon'], '--daemon is not for a service'],
  [['--log-dir', '/tmp'], '--log-dir is not for a service'],
  [['--config-dir', '/srv'], '--config-dir is not for a service: it stands before --'],
  [['--interface', 'mesh1'], '--interface is not for a service: it stands before --'],
])('a service is not given %j', async (options, why) => {
  await expect(requireUpOptions(options)).rejects.toMatchObject({
    exitCode: EXIT.input,
    message: expect.stringContaining(why),
  });
});

test('who leaves the -- out is told of it, for an option that mesh up has', () => {
  const unknown = (flag: string) =>
    withUpOptions(new CommanderError(1, 'commander.unknownOption', `error: unknown option '${flag}'`));
  expect(unknown('--open-firewall')?.message).toContain('mesh service install -- --open-firewall');
  expect(unknown('--bogus')).toBeUndefined();
});
