import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { MIGRATIONS } from '../../storage/sqlite/schema.ts';
import { readDirectory, unpack } from './directory.ts';
import type { Pending } from './pending.ts';

/** What a control plane of a release left behind, and what it answered last. */
export interface Fixture {
  /** Its configuration directory, in a copy that goes with the test. */
  readonly directory: string;
  /** When it answered. */
  readonly at: string;
  readonly workspace: string;
  /** Token of the device db-1, and its graph. */
  readonly device: string;
  readonly graph: Readonly<Record<string, unknown>>;
  readonly answers: Readonly<Record<string, unknown>>;
  /** What waited and what was unspent; absent from 0.1.0. */
  readonly pending?: Pending;
}

/** Versions that have a fixture. */
export function releases(): string[] {
  const entries = readdirSync(import.meta.dirname, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Those whose stores have an older schema than this version's, so that a start upgrades them. */
export function olderReleases(): string[] {
  return releases().filter((version) => schemaIn(unpacked(version, 'mesh.db')) < MIGRATIONS.length);
}

/** `user_version` in the header of an SQLite database. */
const schemaIn = (database: Buffer) => database.readUInt32BE(60);

const unpacked = (version: string, name: string) =>
  gunzipSync(readFileSync(path.join(import.meta.dirname, version, `${name}.gz`)));

export function fixtureOf(version: string): Fixture {
  const source = path.join(import.meta.dirname, version);
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-release-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(path.join(directory, 'mesh.db'), unpacked(version, 'mesh.db'), { mode: 0o600 });
  // Git keeps no mode, and a control plane reads no secrets that others can read.
  writeFileSync(path.join(directory, 'credentials.json'), readFileSync(path.join(source, 'credentials.json')), {
    mode: 0o600,
  });
  const beside = path.join(source, 'plane-directory.json.gz');
  if (existsSync(beside)) unpack(readDirectory(beside), directory);
  return { directory, ...JSON.parse(unpacked(version, 'answers.json').toString()) };
}
