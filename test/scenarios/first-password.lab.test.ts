import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { BUILT_IN_PASSWORD, FIRST_LOGIN_TOKEN_FILE } from '../../core/identity/first-accounts.ts';
import { startHarness } from '../kits/http/harness.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { mesh } from '../kits/process/run-command.ts';

/** A user that owns nothing here. */
const OTHER_UID = 61_234;

/** A process that passes what reaches it on to a port of the loopback, byte by byte. */
async function startForwarder(port: number, as: { readonly uid?: number } = {}) {
  const code = `require('node:net').createServer((from) => {
    const to = require('node:net').connect(${port}, '127.0.0.1');
    from.pipe(to).pipe(from);
    for (const each of [from, to]) each.on('error', () => { from.destroy(); to.destroy(); });
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
  const child = spawn(process.execPath, ['-e', code], { ...as, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(child.stdout, 'data');
  return {
    url: `http://127.0.0.1:${String(text).trim()}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
    },
  };
}

/** The outcome of a login with the first password, or with its token. */
async function logIn(url: string, password: string): Promise<string | number> {
  const response = await fetch(`${url}/api/v1/users/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  });
  if (response.status === 200) return 200;
  const { code } = (await response.json()) as { readonly code: string };
  return `${response.status} ${code}`;
}

describePrivileged('the built-in password', () => {
  it('does not work through a forwarder of another user that adds no header, and its token does', async () => {
    await using plane = await startHarness({ config: {} });
    await using forwarder = await startForwarder(Number(new URL(plane.url).port), { uid: OTHER_UID });
    expect(await logIn(forwarder.url, BUILT_IN_PASSWORD)).toBe('403 forbidden');
    const file = path.join(plane.directory, FIRST_LOGIN_TOKEN_FILE);
    const mode = (statSync(file).mode & 0o777).toString(8);
    const token = readFileSync(file, 'utf8').trim();
    expect([mode, await logIn(forwarder.url, token)]).toEqual(['600', 200]);
    // What root runs cannot be told from root.
    await using own = await startForwarder(Number(new URL(plane.url).port));
    expect(await logIn(own.url, BUILT_IN_PASSWORD)).toBe(200);
    expect(plane.log.join('\n')).not.toContain(token);
  });

  it('that is refused has mesh login read its token, or say who can', async () => {
    await using plane = await startHarness({ config: {} });
    await using forwarder = await startForwarder(Number(new URL(plane.url).port), { uid: OTHER_UID });
    const home = freshDirectory();
    const env = { MESH_SERVER: forwarder.url, MESH_PASSWORD: BUILT_IN_PASSWORD };
    const refused = await mesh(['login'], { home, env });
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('sudo mesh login') });
    const signedIn = await mesh(['login'], { home, env: { ...env, MESH_CONFIG_DIR: plane.directory } });
    expect(signedIn).toMatchObject({ code: 0, stdout: expect.stringContaining('mesh passwd') });
  });
});
