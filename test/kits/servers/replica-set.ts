import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { type Db, type Document, MongoClient, MongoNetworkError, MongoServerError } from 'mongodb';
import { bound, boundFolder } from '../process/bound.ts';
import { freePort, freePorts } from './free-port.ts';

/** Brought by test/mongod.sh. */
export const MONGOD = path.resolve(import.meta.dirname, '../../../node_modules/.cache/mongod');
export const hasMongod = existsSync(MONGOD);

const MEMORY = '/dev/shm';
const NAME = 'rs0';
const SIZE = 3;
const SOON_MS = 2_000;
/** Between two looks of one member at another: by default a new set waits two seconds for each thing that they tell each other. */
const BEAT_MS = 500;
const AGAIN_MS = 20;
const START_MS = 60_000;
const DROP_MS = 5_000;

interface Member {
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
  start(): Promise<void>;
  /** As of a kill -9. */
  kill(): Promise<void>;
}

/** Databases on a replica set, by the names that a test calls them. */
export interface Databases {
  url(database: string): string;
  /** By a client of its own, for what a test looks at. */
  db(database: string): Db;
  /** Ends what was started or made. */
  stop(): Promise<void>;
}

/** Real servers on loopback, in folders of their own. */
export interface ReplicaSet extends Databases {
  readonly members: readonly Member[];
  /** `127.0.0.1:port` of all. */
  readonly hosts: string;
  /** The member that takes writes now. */
  primary(): Promise<Member>;
  /** Has the primary give up its part, as soon as another one can have it: not right after an election. */
  stepDown(): Promise<void>;
}

/**
 * For what ends members, or asks of all that goes on there; everybody else shares one (`shareReplicaSet`).
 *
 * @param electionMs after which a primary that is not heard of is replaced: on a machine that is busy one that lives may be
 * @param prepare called with the folder of each member before it starts
 */
export async function startReplicaSet({
  electionMs = SOON_MS,
  prepare,
}: {
  readonly electionMs?: number;
  readonly prepare?: (folder: string) => void;
} = {}): Promise<ReplicaSet> {
  const folder = freshFolder();
  const ports = await freePorts(SIZE);
  const members = ports.map((port, n) => memberAt(port, path.join(folder, `${n}`), ['--replSet', NAME]));
  for (const member of members) prepare?.(member.folder);
  const end = () => endAll(members, folder);
  try {
    await Promise.all(members.map((member) => member.start()));
    await initiate(ports, electionMs);
    const hosts = ports.map(hostOf).join(',');
    const { url, db, stop } = await databasesOn(hosts);
    const admin = db('admin');
    return {
      members,
      hosts,
      url,
      db,
      async primary() {
        const { primary: found } = await admin.command({ hello: 1 });
        const member = members.find(({ port }) => found === hostOf(port));
        if (!member) throw new Error(`no member is the primary ${found}`);
        return member;
      },
      async stepDown() {
        while (!(await isDone(admin, { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 }))) await after(AGAIN_MS);
      },
      async stop() {
        await stop();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** @param prefix of the names that its databases have there; where there is one, `stop` takes them away */
export async function databasesOn(hosts: string, prefix = ''): Promise<Databases> {
  const url = (database: string) => `mongodb://${hosts}/${prefix}${database}?replicaSet=${NAME}`;
  const client = new MongoClient(url(''), { serverSelectionTimeoutMS: START_MS });
  await client.connect();
  return {
    url,
    db: (database) => client.db(`${prefix}${database}`),
    async stop() {
      if (prefix !== '') await dropAll(client, prefix);
      await client.close();
    },
  };
}

async function dropAll(client: MongoClient, prefix: string): Promise<void> {
  const options = { nameOnly: true, filter: { name: new RegExp(`^${prefix}`) } };
  const { databases } = await client.db('admin').admin().listDatabases(options);
  await Promise.all(databases.map(({ name }) => drop(client.db(name))));
}

/** A transaction of a process that was killed holds one for a minute and more, which nobody waits for: it goes with its servers. */
export async function drop(database: Db): Promise<void> {
  await database.command({ dropDatabase: 1, maxTimeMS: DROP_MS }).catch((error: unknown) => {
    if (!(error instanceof MongoServerError) || error.codeName !== 'MaxTimeMSExpired') throw error;
  });
}

/** A server that is no member of a replica set, or of one that was never initiated. */
export async function startLoneServer(options: readonly string[] = []) {
  const folder = freshFolder();
  const member = memberAt(await freePort(), path.join(folder, '0'), options);
  await member.start();
  return { url: `mongodb://${hostOf(member.port)}/mesh`, stop: () => endAll([member], folder) };
}

/** In memory where there is such a folder: nothing here is about disks, and a killed process loses nothing there either. */
function freshFolder(): string {
  return boundFolder(existsSync(MEMORY) ? MEMORY : tmpdir(), 'mesh-mongod-');
}

async function endAll(members: readonly Member[], folder: string): Promise<void> {
  await Promise.all(members.map((member) => member.kill()));
  rmSync(folder, { recursive: true, force: true });
}

function memberAt(port: number, folder: string, more: readonly string[]): Member {
  mkdirSync(folder);
  const args = ['--bind_ip', '127.0.0.1', '--port', `${port}`, '--dbpath', folder, '--nounixsocket', '--quiet'];
  // Else each member writes 300 MB of empty journal as it starts.
  const journal = ['--wiredTigerEngineConfigString', 'log=(prealloc=false,file_max=8MB)'];
  const cache = ['--wiredTigerCacheSizeGB', '0.25', '--setParameter', 'diagnosticDataCollectionEnabled=false'];
  const small = [...journal, ...cache];
  let child: ChildProcess | undefined;
  return {
    port,
    folder,
    get pid() {
      return child?.pid ?? -1;
    },
    async start() {
      child = spawn(...bound(MONGOD, [...args, ...small, ...more]), { stdio: ['ignore', 'ignore', 'inherit'] });
      await answers(port, child);
    },
    async kill() {
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** @throws Error where the server ends before it answers */
async function answers(port: number, child: ChildProcess): Promise<void> {
  const client = new MongoClient(direct(port), { serverSelectionTimeoutMS: START_MS });
  try {
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`mongod ended with ${code}`)));
    ended.catch(() => undefined);
    await Promise.race([client.db('admin').command({ ping: 1 }), ended]);
  } finally {
    await client.close();
  }
}

/** The first becomes the primary without a wait for the time after which one is missed. */
async function initiate(ports: readonly number[], electionTimeoutMillis: number): Promise<void> {
  const client = new MongoClient(direct(ports[0] ?? 0));
  const admin = client.db('admin');
  try {
    const members = ports.map((port, _id) => ({ _id, host: hostOf(port) }));
    const settings = { electionTimeoutMillis, heartbeatIntervalMillis: BEAT_MS };
    await admin.command({ replSetInitiate: { _id: NAME, members, settings } });
    while (!(await isDone(admin, { replSetStepUp: 1 }))) await after(AGAIN_MS);
  } finally {
    await client.close();
  }
}

/** False where the one that is to be elected cannot be yet, or the others do not know or follow it yet, or it was cut off. */
async function isDone(admin: Db, command: Document): Promise<boolean> {
  try {
    await admin.command(command);
    return true;
  } catch (error) {
    if (error instanceof MongoServerError || error instanceof MongoNetworkError) return false;
    throw error;
  }
}

function direct(port: number): string {
  return `mongodb://${hostOf(port)}/?directConnection=true`;
}

function hostOf(port: number): string {
  return `127.0.0.1:${port}`;
}
