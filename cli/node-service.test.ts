import { Command } from 'commander';
import { expect, test } from 'vitest';
import { EXIT } from './exit.ts';
import { defineService } from './node-service.ts';

const install = (directory: string, ...options: readonly string[]) => {
  const service = new Command('service').exitOverride();
  defineService(service);
  return service.parseAsync(['install', '--print', '--config-dir', directory, '--', ...options], { from: 'user' });
};

test.skipIf(process.platform === 'darwin').each(['/srv/a:b', '/srv/a"b', "/srv/a'b", '/srv/a\\b'])(
  'no service is made of a directory that systemd would read as another one: %s',
  async (directory) => {
    await expect(install(directory)).rejects.toMatchObject({
      exitCode: EXIT.input,
      message: `systemd takes no colon, quote or backslash in ${directory}: use another directory.`,
    });
  },
);

test('a line break in a path or an option would be another line of a unit: no service is made of it', async () => {
  const refusal = { exitCode: EXIT.input, message: expect.stringContaining('no line breaks or control characters') };
  await expect(install('/srv/a\nUser=root')).rejects.toMatchObject(refusal);
  await expect(install('/srv/mesh', '--name', 'a\nUser=root')).rejects.toMatchObject(refusal);
});

test('who would stop the service is told the command that ends its node', async () => {
  const service = new Command('service').exitOverride();
  defineService(service);
  await expect(service.parseAsync(['stop'], { from: 'user' })).rejects.toMatchObject({
    exitCode: EXIT.input,
    message: expect.stringMatching(/End its node: .*mesh down.* up again by .*mesh service start --interface/),
  });
});
