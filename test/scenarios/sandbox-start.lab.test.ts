import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mesh } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const TOKEN = `mesh-dlg-${'a'.repeat(43)}`;
const start = (...args: string[]) => mesh(['sandbox', 'start', ...args], { home });

test.skipIf(process.getuid?.() !== 0)(
  'mesh sandbox start names what is missing, and with a known server nothing is',
  async () => {
    const [token, server] = ['--token with a delegate token (or MESH_TOKEN)', '--server with the address'];
    const neither = await start();
    expect([neither.code, neither.stdout]).toEqual([2, '']);
    expect(neither.stderr).toContain(`Give ${token}, and ${server}`);
    expect((await start('--token', TOKEN)).stderr).toContain(`Give ${server}`);
    expect((await start('--server', 'http://127.0.0.1:9')).stderr).toBe(`Give ${token}.\n`);

    for (const more of [[], ['--name', 'worker'], ['--server', 'http://127.0.0.1:9']]) {
      const join = await start('--token', `mesh-join-${'a'.repeat(43)}-0123456789abcdef`, ...more);
      expect([join.code, join.stderr]).toEqual([2, expect.stringContaining('a sandbox needs a delegate token')]);
    }

    writeFileSync(path.join(home, 'session.json'), JSON.stringify({ server: 'http://127.0.0.1:9' }));
    const known = await start('--token', TOKEN);
    expect([known.code, known.stderr]).toEqual([7, expect.stringContaining('http://127.0.0.1:9 does not answer')]);
  },
);
