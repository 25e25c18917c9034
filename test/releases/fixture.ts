import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

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
}

/** Versions that have a fixture. */
export function releases(): string[] {
  const entries = readdirSync(import.meta.dirname, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

export function fixtureOf(version: string): Fixture {
  const source = path.join(import.meta.dirname, version);
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-release-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const unpacked = (name: string) => gunzipSync(readFileSync(path.join(source, `${name}.gz`)));
  writeFileSync(path.join(directory, 'mesh.db'), unpacked('mesh.db'), { mode: 0o600 });
  // Git keeps no mode, and a control plane reads no secrets that others can read.
  writeFileSync(path.join(directory, 'credentials.json'), readFileSync(path.join(source, 'credentials.json')), {
    mode: 0o600,
  });
  return { directory, ...JSON.parse(unpacked('answers.json').toString()) };
}
