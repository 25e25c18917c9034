import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStore, STORE_URL, storeAt } from './open.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'open-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const quiet = { error() {}, warn() {}, info() {}, debug() {} };
const options = { clock: { now: () => 0 }, log: quiet };

test.each(['sqlite:', 'sqlite://', ''])('a store is opened at %s<file>', async (scheme) => {
  const store = await openStore(`${scheme}${folder}/mesh.db`, options);
  expect(await store.workspaces()).toEqual([]);
  await store.close();
  expect(readdirSync(folder)).toContain('mesh.db');
});

test('a scheme that no store has is refused with those that there are', () => {
  expect(() => openStore('postgres://db.example/mesh', options)).toThrow(/postgres.*sqlite:/);
  expect(() => openStore('constructor:x', options)).toThrow(/constructor/);
  expect(STORE_URL.isKnown('postgres://db.example/mesh')).toBe(false);
  expect(STORE_URL.isKnown(`sqlite:${folder}/mesh.db`)).toBe(true);
});

test('a store in memory is of one thread alone', () => {
  expect(storeAt(':memory:').file).toBeUndefined();
  expect(storeAt('sqlite::memory:').file).toBeUndefined();
  expect(storeAt(`sqlite:${folder}/mesh.db`).file?.path).toBe(`${folder}/mesh.db`);
});
