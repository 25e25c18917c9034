import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { draft, peer, testClock, WHY, WS } from '../contract/kit.ts';
import { writeBackup } from './backup.ts';
import { faultIn } from './integrity.ts';
import { openSqliteStore } from './store.ts';

const clock = testClock();

/** A database in which `web` was written twice. */
async function written(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-damaged-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'mesh.db');
  const store = await openSqliteStore({ path: file, clock, log: silentLog });
  const { revision } = await store.commit(WS, [{ op: 'create', record: draft('web') }], WHY);
  const changed = { ...draft('web'), labels: { role: 'changed' } };
  await store.commit(WS, [{ op: 'update', record: changed, revision }], WHY);
  await store.close();
  return file;
}

test.each<[string, string, (store: Store) => Promise<unknown>, RegExp]>([
  [
    'a record',
    "UPDATE record SET body = replace(body, '{', char(0)) WHERE body IS NOT NULL",
    (store) => store.get(WS, peer('web')),
    /MeshPeer web of workspace \S+, as of revision 2 cannot be read/,
  ],
  [
    'what a record was before',
    'UPDATE version SET body = substr(body, 1, 9)',
    (store) => store.get(WS, peer('web'), { revision: 1 }),
    /MeshPeer web of workspace \S+, as of revision 1 cannot be read/,
  ],
  [
    'an entry of the audit log',
    "DROP TRIGGER audit_is_never_changed; UPDATE audit SET entry = replace(entry, '\"', char(0)) WHERE seq = 1",
    (store) => store.audit(WS, { limit: 9 }),
    /entry 1 of the audit log of workspace \S+ cannot be read/,
  ],
])(
  'where every page is sound and the text of %s is not, readers, the check and a backup name the database',
  async (_what, sql, read, named) => {
    const file = await written();
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    const store = await openSqliteStore({ path: file, clock, log: silentLog });
    onTestFinished(() => store.close());
    await expect(read(store)).rejects.toMatchObject({ code: 'lost', message: expect.stringContaining('the database') });
    expect(faultIn(file)).toMatch(named);
    expect(faultIn(file)).toContain(`the database ${file} is damaged`);
    const to = `${file}.backup`;
    await expect(writeBackup(file, { to, now: 0, installation: 'test', heads: [] })).rejects.toThrow(named);
  },
);

test('a record whose bytes are no UTF-8 any more is named, and one that has a replacement character is none', async () => {
  const file = await written();
  const database = new DatabaseSync(file);
  database.exec("UPDATE record SET body = replace(body, 'changed', 'chang' || char(65533)) WHERE body IS NOT NULL");
  expect(faultIn(file)).toBeUndefined();
  const broken = "CAST(replace(hex(body), 'EFBFBD', 'FFFEFD') AS TEXT)";
  database.exec(`UPDATE record SET body = CAST(unhex(${broken}) AS TEXT) WHERE body IS NOT NULL`);
  database.close();
  expect(faultIn(file)).toMatch(/MeshPeer web of workspace \S+, as of revision 2 cannot be read/);
});
