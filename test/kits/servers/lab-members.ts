import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import type { LabHost } from '../lab/natlab.ts';
import { gateTo } from '../lab/natlab-gate.ts';
import { bound } from '../process/bound.ts';
import { MONGOD } from './replica-set.ts';

const STORE_PORT = 27_017;
export const DATABASE = 'mesh';
const NAME = 'rs0';

/** A member of the replica set of a lab. */
export interface LabMember {
  readonly host: LabHost;
  /** As the others reach it. */
  readonly place: string;
  /** Of this member alone, for the test. */
  readonly client: MongoClient;
  readonly storeUrl: string;
  /** As of a kill -9. */
  kill(): Promise<void>;
}

/** Ends with the lab. @param undo what is to be ended before */
export async function startMember(
  host: LabHost,
  folder: string,
  undo: (() => unknown)[],
  port = STORE_PORT,
): Promise<LabMember> {
  const data = mkdtempSync(path.join(folder, 'data-'));
  const network = ['--bind_ip', '0.0.0.0', '--port', `${port}`, '--nounixsocket', '--quiet'];
  const options = [...network, '--dbpath', data, '--replSet', NAME, '--wiredTigerCacheSizeGB', '0.25'];
  const child = host.spawn(...bound(MONGOD, options));
  child.stdout?.resume();
  const gate = await gateTo(host, port);
  undo.push(gate.close);
  const storeUrl = `mongodb://127.0.0.1:${gate.port}/${DATABASE}?directConnection=true`;
  const client = new MongoClient(storeUrl);
  undo.push(() => client.close());
  await client.db('admin').command({ ping: 1 });
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { host, place: `${host.address}:${port}`, client, storeUrl, kill };
}

/** A replica set of three on one host. @returns first the one that is the primary while it lives */
export async function startMembers(host: LabHost, folder: string, undo: (() => unknown)[]) {
  const start = (nth: number) => startMember(host, folder, undo, STORE_PORT + nth);
  const members = await Promise.all([start(0), start(1), start(2)]);
  await initiate(members, members[0]);
  return members;
}

/** The one that takes writes, as it says itself. @throws Error while none does */
export async function primaryOf(members: readonly LabMember[]): Promise<LabMember> {
  for (const member of members) {
    const { isWritablePrimary } = await member.client.db('admin').command({ hello: 1 });
    if (isWritablePrimary) return member;
  }
  throw new Error('no member takes writes');
}

/** Makes them a replica set. @param first who is the primary while it lives, where it matters */
export async function initiate(members: readonly LabMember[], first?: LabMember): Promise<void> {
  await members[0]?.client.db('admin').command({
    replSetInitiate: {
      _id: NAME,
      members: members.map((member, _id) => ({ _id, host: member.place, priority: member === first ? 2 : 1 })),
      settings: { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 },
    },
  });
}

/** For control planes of the lab. */
export function urlOf(members: readonly LabMember[]): string {
  return `mongodb://${members.map(({ place }) => place).join(',')}/${DATABASE}?replicaSet=${NAME}`;
}
