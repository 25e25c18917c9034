import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { loadCredentials, rotateLogKey } from './credentials.ts';
import { narrow } from './file-mode.ts';
import { headsIn } from './log-heads.ts';
import { giveToOwner } from './owned-file.ts';
import { openDatabase } from './sqlite/database.ts';

/** A directory of one user in which another, who may do everything, works. */

const [USER, GROUP] = [4_242, 4_243];
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-owned-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
});

/** A file of root that everybody may read. */
function precious(): string {
  const file = path.join(directory, 'precious');
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  return file;
}

describe.runIf(process.getuid?.() === 0)('root in a directory of another user', () => {
  test('narrows no file that their link leads to', () => {
    const [file, link] = [precious(), path.join(directory, 'mesh.db')];
    symlinkSync(file, link);
    chownSync(directory, USER, GROUP);
    lchownSync(link, USER, GROUP);
    const modeOf = () => (statSync(file).mode & 0o777).toString(8);
    expect([narrow(link), modeOf()]).toEqual([false, '644']);
    openDatabase(link).close();
    expect(modeOf()).toBe('644');
  });

  test('gives them its links, not what they lead to', () => {
    const [file, link] = [precious(), path.join(directory, 'lock')];
    symlinkSync(file, link);
    chownSync(directory, USER, GROUP);
    giveToOwner(directory, ['lock', 'none']);
    expect([lstatSync(link).uid, statSync(file).uid]).toEqual([USER, 0]);
  });

  test('leaves them their credentials and the heads of their logs', async () => {
    loadCredentials(directory);
    const file = path.join(directory, 'credentials.json');
    chownSync(directory, USER, GROUP);
    chownSync(file, USER, GROUP);
    rotateLogKey(directory, Date.UTC(2026, 0, 5));
    await headsIn(directory).keep('w_a', 'no note');
    for (const owned of [file, path.join(directory, 'log-heads', 'w_a')]) {
      const { uid, gid } = statSync(owned);
      expect([uid, gid]).toEqual([USER, GROUP]);
    }
  });
});
