import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BUILT_IN_PASSWORD } from '../../core/identity/first-accounts.ts';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { hasTerminal, onTerminal, type Typed } from '../kits/process/pseudo-terminal.ts';
import { launcher, mesh } from '../kits/process/run-command.ts';

const OTHER_PASSWORD = 'an even better phrase 9';
const MODE = 'stty -a | tr " ;" "\\n\\n" | grep -x -e "-*icanon" -e "-*echo" -e "-*isig" | tr "\\n" " "';
const USUAL_MODE = 'isig icanon echo';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const signIn = (url: string, password = ADMIN_PASSWORD) =>
  mesh(['login', '--server', url], { home, env: { MESH_PASSWORD: password } });
const atTerminal = (command: string, typed: readonly Typed[]) =>
  onTerminal(`${launcher('mesh')} ${command}; echo "exit $?"; ${MODE}`, typed, { HOME: home, MESH_CONFIG_DIR: home });
const passwd = (typed: readonly Typed[]) => atTerminal('passwd', typed);
const twice = (password: string): Typed[] => [
  { after: 'New password: ', keys: `${password}\r` },
  { after: 'New password again: ', keys: `${password}\r` },
];

test.skipIf(!hasTerminal)('a person who starts meshd reads the announcement before any line of the log', async () => {
  const free = Object.fromEntries(
    ['MESH_LISTEN', 'MESH_BUS_LISTEN', 'MESH_RELAY_LISTEN', 'MESH_STUN_LISTEN'].map((name) => [name, '127.0.0.1:0']),
  );
  const { shown } = await onTerminal(
    `${launcher('meshd')} --standalone --config-dir ${home}`,
    [{ after: 'then: ', keys: '\u0003' }],
    { HOME: home, ...free },
  );
  expect(shown).toMatch(/^Mesh is up in /);
  expect(shown).toContain('Warning: MESH_SIGNALING_URL (nats://127.0.0.1:4222): nodes on other hosts');
  expect(shown).not.toContain('{"level"');
  expect(shown.split('then: ')[1]).toContain('Initial accounts are ready');
});

test.skipIf(!hasTerminal)(
  'at a terminal mcp config writes no token for a client that signs in, unless one is asked for or was there',
  async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const entry = () => JSON.parse(readFileSync(path.join(home, '.cursor/mcp.json'), 'utf8')).mcpServers.mesh;
    const { shown } = await atTerminal('mcp config --client cursor', []);
    expect(shown).toContain('The client signs in by itself');
    expect(entry()).toEqual({ type: 'http', url: `${harness.url}/mcp` });
    await atTerminal('mcp config --client cursor --with-token', []);
    expect(entry().headers.Authorization).toMatch(/^Bearer mesh-agt-/);
    const before = entry().headers.Authorization;
    await atTerminal('mcp config --client cursor', []);
    expect(entry().headers.Authorization).toMatch(/^Bearer mesh-agt-/);
    expect(entry().headers.Authorization).not.toBe(before);
  },
);

describe.skipIf(!hasTerminal)('mesh passwd on a terminal', () => {
  test('asks for both passwords, shows neither, stays signed in, and leaves the terminal as it was', async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const { shown } = await passwd([
      { after: 'Current password: ', keys: `wrong\u0015${ADMIN_PASSWORD}x\u007f\r` },
      ...twice(OTHER_PASSWORD),
    ]);
    expect(shown).toContain('Password changed. Signed in as admin until');
    expect(shown).toContain(`exit 0\n${USUAL_MODE}`);
    expect([shown.includes(ADMIN_PASSWORD), shown.includes(OTHER_PASSWORD)]).toEqual([false, false]);
    expect((await mesh(['workspaces'], { home })).code).toBe(0);
    expect((await signIn(harness.url, OTHER_PASSWORD)).code).toBe(0);
  });

  test('takes what was pasted before it was asked for, with line ends of two characters and keys without one', async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const keys = `\u001b[200~${ADMIN_PASSWORD}\u001b[201~\r\n${OTHER_PASSWORD}\u001b[D\r\n${OTHER_PASSWORD}\r\n`;
    const { shown } = await passwd([{ after: 'Current password: ', keys }]);
    expect(shown).toContain('Password changed.');
    expect((await signIn(harness.url, OTHER_PASSWORD)).code).toBe(0);
  });

  test('asks again where the new password was typed in two ways, and where the current one is wrong', async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const { shown } = await passwd([
      { after: 'Current password: ', keys: 'not this one\r' },
      { after: 'New password: ', keys: `${OTHER_PASSWORD}\r` },
      { after: 'New password again: ', keys: 'something else\r' },
      { after: 'The two are different. Try again.', keys: '' },
      ...twice(OTHER_PASSWORD),
      { after: 'This is not the current password.', keys: '' },
      { after: 'Current password: ', keys: `${ADMIN_PASSWORD}\r` },
      ...twice(OTHER_PASSWORD),
    ]);
    expect(shown).toContain('Password changed.');
    expect((await signIn(harness.url, OTHER_PASSWORD)).code).toBe(0);
  });

  test('ends after three new passwords that were typed in two ways, and changes nothing', async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const differing = [
      { after: 'New password: ', keys: `${OTHER_PASSWORD}\r` },
      { after: 'New password again: ', keys: 'something else\r' },
    ];
    const { shown } = await passwd([
      { after: 'Current password: ', keys: `${ADMIN_PASSWORD}\r` },
      ...differing,
      ...differing,
      ...differing,
    ]);
    expect(shown).toContain(`The two were different each time: nothing was changed.\nexit 2\n${USUAL_MODE}`);
    expect((await signIn(harness.url)).code).toBe(0);
  });

  test.each([
    ['Ctrl-C', 'at the first question', '\u0003', 130, []],
    ['Ctrl-C', 'at the second question', '\u0003', 130, [{ after: 'Current password: ', keys: `${ADMIN_PASSWORD}\r` }]],
    ['Ctrl-D', 'at the first question', '\u0004', 2, []],
  ])(
    'is canceled by %s %s with one line, changes nothing, and leaves the terminal as it was',
    async (_key, _place, key, exitCode, before) => {
      await using harness = await startHarness();
      await signIn(harness.url);
      const question = before.length === 0 ? 'Current password: ' : 'New password: ';
      const { shown } = await passwd([...before, { after: question, keys: `half of it${key}` }]);
      expect(shown).toContain(`${question}\nCanceled: nothing was sent.\nexit ${exitCode}\n${USUAL_MODE}`);
      expect((await signIn(harness.url)).code).toBe(0);
    },
  );
});

describe.skipIf(!hasTerminal)('a command that asks before it changes something', () => {
  const question = 'Undo this? [y/N] ';

  test('does what a yes asks for, and nothing after a no or Ctrl-C, which ends with 130', async () => {
    await using harness = await startHarness();
    await harness.workspace('default');
    await signIn(harness.url);
    const spec = '{"action":"DENY","peerSelector":{}}';
    await mesh(['admin', 'create-policy', '--name', 'shut', '--spec', spec], { home });
    const pending = async () => JSON.parse((await mesh(['workflows', '--json'], { home })).stdout).items.length;
    for (const [keys, ends] of [
      ['\u0003', 'Canceled: nothing was changed.\nexit 130\n'],
      ['n\r', 'Nothing was changed.\nexit 0\n'],
      ['\r', 'Nothing was changed.\nexit 0\n'],
    ] as const) {
      const { shown } = await atTerminal('undo', [{ after: question, keys }]);
      expect(shown).toContain('delete MeshPolicy shut');
      expect(shown).toContain(`${ends}${USUAL_MODE}`);
      expect(await pending()).toBe(0);
    }
    const { shown } = await atTerminal('undo', [{ after: question, keys: 'y\r' }]);
    expect(shown).toMatch(/^Waits for approval: \S*mesh approve wf_/m);
    expect(await pending()).toBe(1);
  });
});

describe.skipIf(!hasTerminal)('mesh otp enroll on a terminal', () => {
  const code = (keys: string) => ({ after: 'Code that the app shows: ', keys: `${keys}\r` });
  const password = { after: 'Password: ', keys: `${ADMIN_PASSWORD}\r` };

  test('asks again after a code that is wrong or empty, and enrols by the next', async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const { shown } = await atTerminal('otp enroll', [password, code('000000'), code(''), code('1')]);
    expect(shown).toMatch(/not the code that the app shows now.* Try again\./);
    expect(shown).toContain('The code has six digits. Once more.');
    expect(shown.match(/Code that the app shows: /g)).toHaveLength(3);
    expect(shown).toMatch(/Nothing was enrolled\. To begin again, with another secret: \S+ otp enroll\nexit 2/);
    expect(shown).not.toContain('/code');
  });
});

describe.skipIf(!hasTerminal)('mesh login on a terminal', () => {
  test('asks again after a wrong password, and offers to change the first one at once', async () => {
    await using harness = await startHarness({ config: {} });
    const { shown } = await atTerminal(`login --server ${harness.url}`, [
      { after: 'Password: ', keys: 'wrong\r' },
      { after: 'Password: ', keys: `${BUILT_IN_PASSWORD}\r` },
      { after: 'This password has to be changed.', keys: '' },
      ...twice(OTHER_PASSWORD),
    ]);
    expect(shown).toContain(`Signed in to ${harness.url} as admin until`);
    expect(shown).toContain(`exit 0\n${USUAL_MODE}`);
    expect(shown).not.toContain('must be changed');
    expect((await mesh(['workspaces'], { home })).stdout).toBe('none\n');
  });

  test('leaves the change for later at an empty line', async () => {
    await using harness = await startHarness({ config: {} });
    const { shown } = await atTerminal(`login --server ${harness.url}`, [
      { after: 'Password: ', keys: `${BUILT_IN_PASSWORD}\r` },
      { after: 'New password: ', keys: '\r' },
    ]);
    expect(shown).toMatch(/The password must be changed: \S+ passwd\nexit 0/);
  });

  test('asks again, in words without field names, for a first password that is refused', async () => {
    await using harness = await startHarness({ config: {} });
    const { shown } = await atTerminal(`login --server ${harness.url}`, [
      { after: 'Password: ', keys: `${BUILT_IN_PASSWORD}\r` },
      ...twice('short'),
      { after: 'A password has at least 8 characters.', keys: '' },
      ...twice('aaaaaaaaaa'),
      { after: 'The password repeats too few different characters.', keys: '' },
      ...twice(OTHER_PASSWORD),
    ]);
    expect(shown).toContain(`Signed in to ${harness.url} as admin until`);
    expect(shown).not.toContain('/newPassword');
    expect((await signIn(harness.url, OTHER_PASSWORD)).code).toBe(0);
  });

  test('stays signed in where three first passwords were refused, so that mesh passwd can go on', async () => {
    await using harness = await startHarness({ config: {} });
    const short = twice('short');
    const { shown } = await atTerminal(`login --server ${harness.url}`, [
      { after: 'Password: ', keys: `${BUILT_IN_PASSWORD}\r` },
      ...short,
      ...short,
      ...short,
    ]);
    expect(shown).toContain(`A password has at least 8 characters.\nexit 2\n${USUAL_MODE}`);
    const again = await passwd([
      { after: 'Current password: ', keys: `${BUILT_IN_PASSWORD}\r` },
      ...short,
      { after: 'A password has at least 8 characters.', keys: '' },
      ...twice(OTHER_PASSWORD),
    ]);
    expect(again.shown).toContain('Password changed. Signed in as admin until');
  });

  test('goes by a browser where the terminal is on a desktop, and ends at Ctrl-C', async () => {
    await using harness = await startHarness();
    const keys = [{ after: 'With a password: ', keys: '\u0003' }];
    const env = { HOME: home, MESH_CONFIG_DIR: home, DISPLAY: ':nowhere' };
    const { shown, code } = await onTerminal(`${launcher('mesh')} login --server ${harness.url}`, keys, env);
    expect(shown).toMatch(/Sign in with this address, in a browser on this machine:\n {2}http\S+\/#\/~\/allow\/\S+\n/);
    expect([code, shown]).toEqual([130, expect.stringContaining('Canceled: nobody is signed in.')]);
  });

  test('goes by a code where the terminal has no browser and the control plane has a public address', async () => {
    const initAdmins = [{ username: 'admin', password: 'to be changed at once' }];
    const app = { publicUrls: ['https://mesh.example.com'], initAdmins };
    await using harness = await startHarness({ config: { app } });
    const shownCode = { after: 'type the code there:', keys: '\u0003' };
    const env = { HOME: home, MESH_CONFIG_DIR: home };
    const command = `${launcher('mesh')} login --server ${harness.url}`;
    const { shown, code } = await onTerminal(command, [shownCode], env);
    expect(shown).toMatch(/\n {2}https:\/\/mesh\.example\.com\/#\/~\/allow\n {2}[A-Z]{4}-[A-Z]{4}\n/);
    expect(code).toBe(130);
  });

  test('asks for the password where no browser reaches the control plane', async () => {
    await using harness = await startHarness();
    const { shown } = await atTerminal(`login --server http://0.0.0.0:${new URL(harness.url).port}`, [
      { after: 'A password works all the same.', keys: '' },
      { after: 'Password: ', keys: `${ADMIN_PASSWORD}\r` },
    ]);
    expect(shown).toContain('as admin until');
  });

  test('ends after three wrong passwords, and stores nothing', async () => {
    await using harness = await startHarness();
    const wrong = { after: 'Password: ', keys: 'wrong\r' };
    const { shown } = await atTerminal(`login --server ${harness.url}`, [wrong, wrong, wrong]);
    expect(shown).toContain(`exit 3\n${USUAL_MODE}`);
    expect((await mesh(['workspaces', '--server', harness.url], { home })).code).toBe(3);
  });
});

test.each([
  ['one piped line', { stdin: `${ADMIN_PASSWORD}\n` }],
  ['MESH_PASSWORD alone', { env: { MESH_PASSWORD: ADMIN_PASSWORD } }],
])('mesh passwd with %s says that it wants two passwords, one a line', async (_, given) => {
  await using harness = await startHarness();
  await signIn(harness.url);
  const { code, stderr } = await mesh(['passwd'], { home, ...given });
  expect([code, stderr]).toEqual([
    2,
    'The current and the new password are wanted on standard input, one a line; MESH_PASSWORD is read by mesh login alone.\n',
  ]);
});
