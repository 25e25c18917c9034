import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openExisting, takeLock } from './directory-lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-lock-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});
const inside = (name: string) => path.join(directory, name);

test('the process id takes the place of a link, and what that leads to stays as it was', () => {
  writeFileSync(inside('other'), 'precious');
  symlinkSync(inside('other'), inside('meshd.pid'));
  const lock = takeLock(directory);
  lock.sign();
  lock.release();
  expect([readFileSync(inside('other'), 'utf8'), readFileSync(inside('meshd.pid'), 'utf8')]).toEqual([
    'precious',
    `${process.pid}\n`,
  ]);
});

test('a lock that is a link is refused, and nothing is made behind it', () => {
  symlinkSync(inside('other'), inside('lock'));
  expect(() => takeLock(directory)).toThrow(`${inside('lock')} is a link: remove it.`);
  expect(existsSync(inside('other'))).toBe(false);
});

test('a link that takes the place of the lock at the last moment makes nothing behind itself', () => {
  const raced = (file: string) => {
    rmSync(file);
    symlinkSync(inside('other'), file);
    return openExisting(file);
  };
  expect(() => takeLock(directory, undefined, raced)).toThrow('unable to open');
  expect(existsSync(inside('other'))).toBe(false);
});

test('who finds the directory locked hears by whom', () => {
  const lock = takeLock(directory);
  lock.sign();
  expect(() => takeLock(directory)).toThrow(`in use by another meshd (pid ${process.pid})`);
  lock.release();
  takeLock(directory).release();
});
