import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { draft, START, testClock, WHY, WS } from '../contract/kit.ts';
import { headsIn } from '../log-heads.ts';
import { buildLogKeys, newLogKey } from '../log-keys.ts';
import { acceptLogs } from './accept.ts';
import { openSqliteStore } from './store.ts';

test('a log that is gone is given up by an entry in the log of the installation, once', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-accept-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'mesh.db');
  const store = await openSqliteStore({ path: file, clock: testClock(), log: silentLog });
  await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
  await store.close();
  const heads = headsIn(folder);
  const logs = buildLogKeys([newLogKey(0)], new Uint8Array(32), heads);
  const note = logs.sign({ origin: logs.originOf('w_gone'), size: 3, root: new Uint8Array(32) });
  await heads.keep('w_gone', note);
  const accept = () => acceptLogs({ path: file, logs, heads, reason: 'tidied up', now: START });
  expect(await accept()).toEqual([
    { workspace: 'w_gone', entry: 0, given: [expect.stringMatching(/^all of the log of w_gone, which is gone/)] },
  ]);
  expect(await accept()).toEqual([]);
  const again = await openSqliteStore({ path: file, clock: testClock(), log: silentLog });
  const [entry] = await again.audit('w_system', { limit: 1 });
  await again.close();
  expect(entry?.event).toMatchObject({
    type: 'audit.accepted',
    detail: { reason: 'tidied up', workspace: 'w_gone', signed: [note] },
  });
});
