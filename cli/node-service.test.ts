import { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EXIT } from './exit.ts';
import { HINTS } from './node-hints.ts';
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

test('the file of a service is printed for other service managers with the options that were given', () => {
  const upOptions = ['--name', 'my node'];
  const hint = HINTS.printService({ directory: '/srv/mesh', isUsers: true, upOptions });
  expect(hint).toMatch(/ --print --user --config-dir \/srv\/mesh -- --name 'my node'$/);
});

test('a line break in a path or an option would be another line of a unit: no service is made of it', async () => {
  const refusal = { exitCode: EXIT.input, message: expect.stringContaining('no line breaks or control characters') };
  await expect(install('/srv/a\nUser=root')).rejects.toMatchObject(refusal);
  await expect(install('/srv/mesh', '--name', 'a\nUser=root')).rejects.toMatchObject(refusal);
});

test.skipIf(process.platform === 'darwin')(
  'a service of a user is refused where no systemd of that user runs',
  async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    const refusal = {
      exitCode: EXIT.unavailable,
      message: expect.stringMatching(/^No systemd of this user runs here\. .*\nOr .*: mesh up --userspace --daemon/),
    };
    for (const words of [
      ['install', '--user', '--config-dir', '/srv/mesh'],
      ['start', '--user'],
      ['uninstall', '--user'],
    ]) {
      const service = new Command('service').exitOverride();
      defineService(service);
      await expect(service.parseAsync(words, { from: 'user' })).rejects.toMatchObject(refusal);
    }
  },
);

test('a service of a user takes no interface', async () => {
  const service = new Command('service').exitOverride();
  defineService(service);
  await expect(
    service.parseAsync(['install', '--user', '--', '--no-userspace'], { from: 'user' }),
  ).rejects.toMatchObject({ exitCode: EXIT.input, message: expect.stringContaining('leave out --no-userspace') });
});

test('who would stop the service is told the command that ends its node', async () => {
  const service = new Command('service').exitOverride();
  defineService(service);
  await expect(service.parseAsync(['stop'], { from: 'user' })).rejects.toMatchObject({
    exitCode: EXIT.input,
    message: expect.stringMatching(/End its node: .*mesh down.* up again by .*mesh service start --interface/),
  });
});
