import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beginCommand } from '../command.ts';
import { momentWithin } from '../victim.ts';
import type { World } from '../world.ts';

/** Longer than a backup of a small network takes, start and all: some are whole when they are killed. */
const SPAN_MS = 900;

/** `meshd backup` of a running control plane is killed: its file is whole then, or what it was before. */
export async function killInBackup(world: World, times: number): Promise<void> {
  const { victim, random } = world;
  const file = path.join(victim.directory, 'copy.db');
  for (let count = 0; count < times; count += 1) {
    if (random.chance(0.5)) rmSync(file, { force: true });
    const before = existsSync(file) ? policiesIn(file) : undefined;
    const backup = beginCommand(victim.directory, 'backup', file);
    await momentWithin(SPAN_MS * victim.slowness, victim.directory, 'copy.db', random);
    backup.kill();
    await backup.ended;
    world.count('backup');
    const now = existsSync(file) ? policiesIn(file) : undefined;
    const expected = [...world.main.network.policies.keys(), ...world.guarded.network.policies.keys()]
      .toSorted()
      .join();
    if (now !== before && now !== expected) world.findings.push(`the backup has ${now}, and should have ${expected}`);
  }
  // What was left half-written is in nobody's way.
  const last = beginCommand(victim.directory, 'backup', file);
  if ((await last.ended) !== 0) world.findings.push(`after it was killed, no backup is made: ${last.stderr()}`);
}

/** Names of the policies, but for those of workspaces that were made on the way, or what is wrong with the file. */
function policiesIn(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const [check] = database.prepare('PRAGMA integrity_check').all();
    if (check?.['integrity_check'] !== 'ok') return JSON.stringify(check);
    const rows = database
      .prepare("SELECT name FROM record WHERE kind = 'MeshPolicy' AND body IS NOT NULL AND name <> 'first'")
      .all();
    return rows
      .map(({ name }) => String(name))
      .toSorted()
      .join();
  } catch (error) {
    return String(error);
  } finally {
    database.close();
  }
}
