import { inject } from 'vitest';
import { type Databases, databasesOn } from './replica-set.ts';
import type { Part } from './replica-set-of-run.ts';

/**
 * The replica set of the run, for a file that ends no member and asks nothing of all databases: others are at work on the
 * same servers.
 */
export async function shareReplicaSet(): Promise<Databases> {
  const answer = await fetch(inject('replicaSet'));
  if (!answer.ok) throw new Error(`there is no replica set: ${await answer.text()}`);
  const { hosts, prefix } = (await answer.json()) as Part;
  return databasesOn(hosts, prefix);
}
