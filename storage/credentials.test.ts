import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckpoint } from '../core/audit/checkpoint.ts';
import { noteKeysOf } from '../core/audit/keep-checkpoints.ts';
import { leadsTo } from '../core/audit/log-keys.ts';
import { loadCredentials, makeKeysFile, readKeysFile, rotateLogKey } from './credentials.ts';
import { buildKeyring, nameOfKeys } from './keyring.ts';
import { headsIn } from './log-heads.ts';

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

test('a key that ends names the one that follows it, and leads to no other', () => {
  const { folder } = newFolder();
  const [first] = buildKeyring(loadCredentials(folder)).logs.keys;
  for (const at of [T0, T0 + 1]) rotateLogKey(folder, at);
  const { keys } = buildKeyring(loadCredentials(folder)).logs;
  const [old, middle, last] = keys.map(({ publicKey }) => publicKey);
  if (!first || !old || !middle || !last) throw new TypeError('a key is missing');
  expect(old).toEqual(first.publicKey);
  expect([leadsTo(old, middle, keys), leadsTo(old, last, keys), leadsTo(middle, last, keys)]).toEqual([
    false,
    true,
    true,
  ]);
  expect(leadsTo(last, old, keys)).toBe(false);
  expect(leadsTo(old, last, keys.slice(2))).toBe(false);
  expect(leadsTo(new Uint8Array(32), last, keys)).toBe(false);
});

test('a rotation keeps the owner and the mode of the file', () => {
  const { folder, file } = newFolder();
  loadCredentials(folder);
  chmodSync(file, 0o400);
  const before = statSync(file);
  rotateLogKey(folder, T0);
  const { uid, gid, mode } = statSync(file);
  expect([uid, gid, mode]).toEqual([before.uid, before.gid, before.mode]);
  const heads = headsIn(folder);
  return heads.keep('w_a', 'no note').then(() => {
    const [owner, made] = [statSync(folder), statSync(path.join(folder, 'log-heads', 'w_a'))];
    expect([made.uid, made.gid, made.mode & 0o777]).toEqual([owner.uid, owner.gid, 0o600]);
  });
});

test('the newest head stays, over a restart and whatever comes late', async () => {
  const { folder } = newFolder();
  const { logs } = buildKeyring(loadCredentials(folder));
  const note = (size: number) => logs.sign({ origin: logs.originOf('w_a'), size, root: new Uint8Array(32) });
  const heads = headsIn(folder);
  expect(await heads.newest('w_a')).toBeUndefined();
  for (const size of [2, 5, 3]) await heads.keep('w_a', note(size));
  expect(await headsIn(folder).newest('w_a')).toBe(note(5));
  heads.giveUp('w_a');
  expect(await headsIn(folder).newest('w_a')).toBeUndefined();
  await expect(heads.newest('../credentials.json')).rejects.toThrow(TypeError);
});

test('the first heads are there all at once, and what a begin that was killed left is no head', async () => {
  const { folder } = newFolder();
  mkdirSync(path.join(folder, 'log-heads.new'));
  writeFileSync(path.join(folder, 'log-heads.new', 'w_old'), 'left');
  const heads = headsIn(folder);
  expect([heads.wereKept(), heads.all()]).toEqual([false, []]);
  heads.begin(
    new Map([
      ['w_a', 'one'],
      ['w_b', 'two'],
    ]),
  );
  expect(heads.wereKept()).toBe(true);
  expect(heads.all().map(({ workspace, note }) => [workspace, note])).toEqual([
    ['w_a', 'one'],
    ['w_b', 'two'],
  ]);
  heads.giveUp('w_a', 'three');
  expect(await headsIn(folder).newest('w_a')).toBe('three');
});

test('a key is not rotated where there are no credentials', () => {
  const { folder } = newFolder();
  expect(() => rotateLogKey(folder, T0)).toThrow(/credentials\.json is not there: name the --config-dir/);
});

test('a keys file is made once, read by nobody else, and never written again', () => {
  const { folder } = newFolder();
  const file = path.join(folder, 'keys.json');
  expect(() => readKeysFile(file)).toThrow(/is not there. Make it once with meshd keys/);
  makeKeysFile(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(() => makeKeysFile(file)).toThrow(/is there already/);
  expect(readKeysFile(file)).toEqual(JSON.parse(text));
  expect(readFileSync(file, 'utf8')).toBe(text);
  chmodSync(file, 0o640);
  expect(() => readKeysFile(file)).toThrow(`Run: chmod 600 ${file}`);
  chmodSync(file, 0o600);
  const { logKeys: _, ...older } = JSON.parse(text);
  for (const damaged of ['', '{}', JSON.stringify(older)]) {
    writeFileSync(file, damaged);
    expect(() => readKeysFile(file)).toThrow(/is damaged, or holds no keys/);
  }
});

test('keys are named by what they are, and other keys otherwise', () => {
  const [one, other] = [newFolder(), newFolder()].map(({ folder }) => loadCredentials(folder));
  if (!one || !other) throw new Error('two were made');
  expect(nameOfKeys(one)).toMatch(/^[0-9a-f]{16}$/);
  expect(nameOfKeys({ ...one })).toBe(nameOfKeys(one));
  expect(nameOfKeys({ ...one, controlKey: other.controlKey })).not.toBe(nameOfKeys(one));
  expect(nameOfKeys({ ...one, signingKey: other.signingKey })).not.toBe(nameOfKeys(one));
});
