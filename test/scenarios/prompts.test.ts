import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../harness.ts';
import { noTerminal, onTerminal, type Typed } from '../pseudo-terminal.ts';
import { launcher, mesh } from '../run-command.ts';

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
const passwd = (typed: readonly Typed[]) =>
  onTerminal(`${launcher('mesh')} passwd; echo "exit $?"; ${MODE}`, typed, { HOME: home, MESH_CONFIG_DIR: home });

describe.skipIf(noTerminal !== '')('mesh passwd on a terminal', () => {
  test('asks for both passwords one after the other, shows neither, and leaves the terminal as it was', async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const { shown } = await passwd([
      { after: 'Current password: ', keys: `wrong\u0015${ADMIN_PASSWORD}x\u007f\r` },
      { after: 'New password: ', keys: `${OTHER_PASSWORD}\r` },
    ]);
    expect(shown).toContain('Password changed. Sign in again: mesh login');
    expect(shown).toContain(`exit 0\n${USUAL_MODE}`);
    expect([shown.includes(ADMIN_PASSWORD), shown.includes(OTHER_PASSWORD)]).toEqual([false, false]);
    expect((await signIn(harness.url, OTHER_PASSWORD)).code).toBe(0);
  });

  test('takes a second password that was typed before it was asked for', async () => {
    await using harness = await startHarness();
    await signIn(harness.url);
    const keys = `${ADMIN_PASSWORD}\r${OTHER_PASSWORD}\r`;
    const { shown } = await passwd([{ after: 'Current password: ', keys }]);
    expect(shown).toContain('Password changed.');
    expect((await signIn(harness.url, OTHER_PASSWORD)).code).toBe(0);
  });

  test.each([
    ['at the first question', []],
    ['at the second question', [{ after: 'Current password: ', keys: `${ADMIN_PASSWORD}\r` }]],
  ])(
    'is cancelled by Ctrl-C %s with one line, changes nothing, and leaves the terminal as it was',
    async (_, before) => {
      await using harness = await startHarness();
      await signIn(harness.url);
      const question = before.length === 0 ? 'Current password: ' : 'New password: ';
      const { shown } = await passwd([...before, { after: question, keys: 'half of it\u0003' }]);
      expect(shown).toContain(`${question}\nCancelled: nothing was sent.\nexit 2\n${USUAL_MODE}`);
      expect((await signIn(harness.url)).code).toBe(0);
    },
  );
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
