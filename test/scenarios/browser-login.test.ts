import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { buildSettableClock } from '../kits/plane/settable-clock.ts';
import { COMPILE_CACHE, launcher, mesh } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** `mesh login` under way. */
function login(server: string, ...options: readonly string[]) {
  const env = { PATH: `${home}:${process.env['PATH']}`, HOME: home, ...COMPILE_CACHE, MESH_CONFIG_DIR: home };
  const child = spawn(launcher('mesh'), ['login', '--server', server, ...options], { env });
  const text = { stdout: '', stderr: '' };
  let changed = Promise.withResolvers<void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk;
      changed.resolve();
      changed = Promise.withResolvers();
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...text }));
  return {
    ended,
    interrupt: () => child.kill('SIGINT'),
    /** The first match of what it tells the person. */
    async told(wanted: RegExp): Promise<string> {
      for (;;) {
        const found = wanted.exec(text.stderr)?.[1];
        if (found !== undefined) return found;
        const isOver = await Promise.race([changed.promise, ended]);
        if (isOver) throw new Error(`mesh login ended: ${JSON.stringify(isOver)}`);
      }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
}

const CODE = /^ {2}([A-Z]{4}-[A-Z]{4})$/m;
const PAGE = /^ {2}(http\S+\/allow\/\S+)$/m;
const idOf = (shown: string) =>
  shown.includes('/') ? (shown.split('/').at(-1) ?? '') : `device-${shown.replace('-', '')}`;
const decide = (harness: Harness, shown: string, step: 'sign-in' | 'deny', token: string) =>
  harness.api('POST', `/api/v1/oauth/requests/${idOf(shown)}/${step}`, { token });

test('mesh login --device signs in by a code, and the session is one of the person, who ends it', async () => {
  await using harness = await startHarness();
  const token = await harness.login();
  await using command = login(harness.url, '--device');
  const code = await command.told(CODE);
  expect(await command.told(/^ {2}(http.*)$/m)).toBe(`${harness.url}/#/~/allow`);
  const asked = await harness.api('GET', `/api/v1/oauth/requests/${idOf(code)}`, { token });
  expect(asked.body.commandLine).toEqual({ host: hostname(), origin: '127.0.0.1', isElsewhere: true });
  expect((await decide(harness, code, 'sign-in', token)).body).toEqual({});
  const { code: exit, stdout, stderr } = await command.ended;
  expect([exit, stdout]).toEqual([0, expect.stringContaining(`Signed in to ${harness.url} as admin until`)]);
  const session = JSON.parse(readFileSync(path.join(home, 'session.json'), 'utf8'));
  for (const text of [stdout, stderr, ...harness.log]) expect(text).not.toContain(session.token);

  const listed = await harness.api('GET', '/api/v1/users/me/sessions', { token });
  const own = listed.body.items.find(({ current }: { current: boolean }) => !current);
  expect(own.client).toBe(`mesh command line on ${hostname()}`.slice(0, 63));
  expect((await mesh(['admin', 'get-me'], { home })).stdout).toContain('admin');
  await harness.api('DELETE', `/api/v1/users/me/sessions/${own.id}`, { token });
  expect((await mesh(['admin', 'get-me'], { home })).code).toBe(3);
});

test('mesh login --browser opens a browser, which hands over a key on the loopback, and takes no other', async () => {
  await using harness = await startHarness();
  const token = await harness.login();
  const opener = path.join(home, 'xdg-open');
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > "$HOME/opened.part" && mv "$HOME/opened.part" "$HOME/opened"\n`);
  chmodSync(opener, 0o755);
  await using command = login(harness.url, '--browser');
  const page = await command.told(PAGE);
  const { body } = await decide(harness, page, 'sign-in', token);
  const url = new URL(body.url);
  expect([url.protocol, url.hostname, [...url.searchParams.keys()]]).toEqual(['http:', '127.0.0.1', ['state', 'key']]);
  for (const wrong of ['/', '/?key=x', '/?key=x&state=x', `/else${url.search}`]) {
    expect((await fetch(new URL(wrong, url))).status).toBe(404);
  }
  expect(await (await fetch(url)).text()).toContain('You can close this page.');
  const { code, stdout, stderr } = await command.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('as admin until')]);
  expect(stderr).not.toContain(url.searchParams.get('key'));
  expect(harness.log.join('\n')).not.toContain(url.searchParams.get('key'));
  await expect.poll(() => readFileSync(path.join(home, 'opened'), 'utf8')).toBe(page);
});

test('mesh login says that the person denied it, by either way, and stores nothing', async () => {
  await using harness = await startHarness();
  const token = await harness.login();
  await using device = login(harness.url, '--device');
  await decide(harness, await device.told(CODE), 'deny', token);
  await using browser = login(harness.url, '--browser');
  const { body } = await decide(harness, await browser.told(PAGE), 'deny', token);
  await fetch(body.url);
  for (const { ended } of [device, browser]) {
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([3, expect.stringContaining('The person denied this sign-in.')]);
  }
  expect((await mesh(['admin', 'get-me', '--server', harness.url], { home })).code).toBe(3);
});

test('mesh login says when nobody allowed it in ten minutes, and what to do', async () => {
  const clock = buildSettableClock();
  await using harness = await startHarness({ clock });
  await using command = login(harness.url, '--device');
  await command.told(CODE);
  clock.pass(10 * 60_000);
  const { code, stderr } = await command.ended;
  expect([code, stderr]).toEqual([5, expect.stringMatching(/took longer than ten minutes.* give \S*mesh login again/)]);
});

test('Ctrl-C ends mesh login in words, by either way', async () => {
  await using harness = await startHarness();
  for (const [way, shown] of [
    ['--device', CODE],
    ['--browser', PAGE],
  ] as const) {
    await using command = login(harness.url, way);
    await command.told(shown);
    command.interrupt();
    expect(await command.ended).toMatchObject({
      code: 130,
      stdout: '',
      stderr: expect.stringMatching(/\nCanceled: nobody is signed in\.\n$/),
    });
  }
});

test('mesh login names what a browser needs where there is no public address, and options that exclude each other', async () => {
  await using harness = await startHarness();
  const server = `http://0.0.0.0:${new URL(harness.url).port}`;
  for (const way of ['--device', '--browser']) {
    const { code, stderr } = await mesh(['login', way, '--server', server], { home });
    expect([code, stderr]).toEqual([2, expect.stringContaining('an administrator sets app.publicUrls in config.yaml')]);
    expect(await mesh(['login', way, '--username', 'admin'], { home })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be used with'),
    });
  }
});
