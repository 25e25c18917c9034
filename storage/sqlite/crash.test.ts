import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { openSqliteStore } from './store.ts';

const KILLS = 4;
/** Acknowledgements to see before each kill; odd, so that kills fall at different points of a group. */
const ACKNOWLEDGED_BEFORE_KILL = 137;
const WRITER = fileURLToPath(new URL('./crash-writer.testkit.ts', import.meta.url));

test('nothing acknowledged is lost and the file opens after each kill -9 in a write loop', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-store-crash-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'mesh.db');
  const acknowledged = new Map<number, string>();
  for (let kill = 0; kill < KILLS; kill++) {
    const writer = spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void writer.kill('SIGKILL'));
    for (const [revision, name] of await killAfter(writer, ACKNOWLEDGED_BEFORE_KILL)) acknowledged.set(revision, name);

    const store = await openSqliteStore({ path, clock: { now: () => 0 }, log: silentLog });
    const kept = new Map<number, string>();
    for (const { revision, changes } of await store.commits('w_crash', 0, Number.MAX_SAFE_INTEGER)) {
      kept.set(revision, changes.map(({ record }) => record.name).join());
    }
    const lost = [...acknowledged].filter(([revision, name]) => kept.get(revision) !== name);
    expect({ lost, gaps: kept.size !== (await store.revision('w_crash')) }).toEqual({ lost: [], gaps: false });
    await store.close();
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS * ACKNOWLEDGED_BEFORE_KILL);
});

/** @returns every acknowledgement that the writer printed before it died */
async function killAfter(writer: ChildProcess, count: number): Promise<[number, string][]> {
  const exit = once(writer, 'exit');
  if (!writer.stdout) throw new Error('the writer has no output');
  const seen: [number, string][] = [];
  for await (const line of createInterface({ input: writer.stdout })) {
    const [revision, name] = line.split(' ');
    // The last line may be cut short by the kill.
    if (revision !== undefined && name !== undefined) seen.push([Number(revision), name]);
    if (seen.length === count) writer.kill('SIGKILL');
  }
  const [, signal] = await exit;
  if (signal !== 'SIGKILL') throw new Error(`the writer ended by itself after ${seen.length} commits`);
  return seen;
}
