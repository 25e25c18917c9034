import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { configure, login } from '../../kits/http/harness.ts';
import { fixtureOf, olderReleases } from '../../releases/fixture.ts';
import { otherwise } from '../../releases/same-facts.ts';
import type { Random } from '../random.ts';
import { momentWithin, Victim } from '../victim.ts';
import { read } from '../writes.ts';

/** What a release answered of moments that are over; the rest has gone on since. */
const IS_PAST = /connectivity\/check-at|connectivity\/matrix\?at=|\/snapshots\/diff/;
const ROUTES_ASKED = 12;

/**
 * The first start on the store of an older release is killed: the store has one schema or the other then, and a start that
 * is left alone ends with what that release knew.
 */
export async function killInMigration(random: Random, times: number, count: () => void): Promise<string[]> {
  const findings: string[] = [];
  const { directory, workspace, answers } = fixtureOf(random.pick(olderReleases()));
  configure(directory);
  const file = path.join(directory, 'mesh.db');
  const before = schemaOf(file);
  const victim = new Victim({ directory });
  let schema = before;
  for (let killed = 0; killed < times && schema === before; killed += 1) {
    const meshd = victim.begin();
    await Promise.race([momentWithin(victim.startMs, directory, 'mesh.db', random), meshd.ended]);
    if (meshd.child.exitCode !== null) findings.push(`an upgrade ended by itself: ${meshd.stderr()}`);
    await victim.kill();
    count();
    schema = schemaOf(file);
  }
  try {
    await victim.start();
    const after = schemaOf(file);
    if (schema !== before && schema !== after) findings.push(`schema ${schema} is neither ${before} nor ${after}`);
    const token = await login(victim.api);
    const past = Object.keys(answers).filter((route) => IS_PAST.test(route));
    for (let asked = 0; asked < ROUTES_ASKED; asked += 1) {
      const route = random.pick(past);
      const place = { api: victim.api, token, workspace, joinTokens: new Map() };
      const { body } = await read(place, route.replace('/api/v1', ''));
      findings.push(...otherwise(answers[route], body).map((line) => `${route} ${line}`));
    }
  } catch (error) {
    findings.push(String(error));
  } finally {
    await victim.kill();
  }
  return findings;
}

/** Number of the schema of a database whose pages are all right. */
function schemaOf(file: string): string {
  const database = new DatabaseSync(file);
  try {
    const [check] = database.prepare('PRAGMA integrity_check').all();
    const version = database.prepare('PRAGMA user_version').get();
    return check?.['integrity_check'] === 'ok' ? String(version?.['user_version']) : JSON.stringify(check);
  } finally {
    database.close();
  }
}
