import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeCheckpoint } from '../../core/audit/keep-checkpoints.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { draft, START, testClock, WHY, WS } from '../contract/kit.ts';
import { headsIn } from '../log-heads.ts';
import { buildLogKeys, newLogKey } from '../log-keys.ts';
import { acceptLogs } from './accept.ts';
import { openSqliteStore } from './store.ts';

test('a log whose head is gone is given up by an entry of its own, and its newest checkpoint is the head then', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-accept-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'mesh.db');
  const heads = headsIn(folder);
  const logs = buildLogKeys([newLogKey(0)], new Uint8Array(32), heads);
  const store = await openSqliteStore({ path: file, clock: testClock(), log: silentLog });
  await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
  await makeCheckpoint({ store, clock: testClock(), keys: { logs } }, WS);
  await store.close();
  const note = await heads.newest(WS);
  const accept = () => acceptLogs(file, { logs, heads, reason: 'tidied up', now: START });
  expect(await accept()).toEqual([]);
  for (const left of [undefined, '']) {
    heads.giveUp(WS, left);
    expect(await accept()).toMatchObject([{ workspace: WS, given: [expect.stringMatching(/^the newest signed/)] }]);
    expect(await headsIn(folder).newest(WS)).toBe(note);
  }
  expect(await accept()).toEqual([]);
});

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
  const accept = () => acceptLogs(file, { logs, heads, reason: 'tidied up', now: START });
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
