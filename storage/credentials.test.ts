import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckpoint } from '../core/audit/checkpoint.ts';
import { noteKeysOf } from '../core/audit/keep-checkpoints.ts';
import { loadCredentials, rotateLogKey } from './credentials.ts';
import { buildKeyring } from './keyring.ts';

const T0 = Date.UTC(2026, 0, 5);

function newFolder(): { folder: string; file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, file: path.join(folder, 'credentials.json') };
}

test('credentials of an older version get a key for the audit logs once, and keep all else', () => {
  const { folder, file } = newFolder();
  const { logKeys: _, ...older } = loadCredentials(folder);
  writeFileSync(file, JSON.stringify(older), { mode: 0o600 });
  const upgraded = loadCredentials(folder);
  expect(upgraded).toMatchObject(older);
  expect(upgraded.logKeys).toHaveLength(1);
  expect(loadCredentials(folder)).toEqual(upgraded);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a checkpoint from before a rotation verifies after it, and the old private key is gone', () => {
  const { folder, file } = newFolder();
  const before = buildKeyring(loadCredentials(folder)).logs;
  const root = new Uint8Array(32);
  const old = before.sign({ origin: before.originOf('w_a'), size: 1, root });
  const publicKey = rotateLogKey(folder, T0);
  const { logs } = buildKeyring(loadCredentials(folder));
  expect(logs.originOf('w_a')).toBe(before.originOf('w_a'));
  expect(openCheckpoint(old, noteKeysOf(logs, 'w_a'))).toMatchObject({ size: 1 });
  expect(
    openCheckpoint(logs.sign({ origin: logs.originOf('w_a'), size: 2, root }), noteKeysOf(before, 'w_a')),
  ).toBeUndefined();
  expect(logs.keys.map(({ until }) => until)).toEqual([T0, undefined]);
  expect(Buffer.from(logs.keys[1]?.publicKey ?? []).toString('base64')).toBe(publicKey);
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  expect(stored.logKeys.map((key: object) => 'privateKey' in key)).toEqual([false, true]);
});

test('a key is not rotated where there are no credentials', () => {
  const { folder } = newFolder();
  expect(() => rotateLogKey(folder, T0)).toThrow(/credentials\.json is not there: name the --config-dir/);
});
