import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { freePort } from './free-port.ts';

/** Brought by test/mongod.sh. */
export const MONGOD = path.resolve(import.meta.dirname, '../../../node_modules/.cache/mongod');
export const hasMongod = existsSync(MONGOD);

const MEMORY = '/dev/shm';
const NAME = 'rs0';
const SOON_MS = 2_000;
const START_MS = 60_000;

interface Member {
  readonly port: number;
  readonly pid: number;
  /** As of a kill -9. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Real servers on loopback, in folders of their own. */
export interface ReplicaSet {
  readonly members: readonly Member[];
  /** For a database of the set. */
  url(database: string): string;
  /** The member that takes writes now. */
  primary(): Promise<Member>;
  /** Has the primary give up its part. */
  stepDown(): Promise<void>;
  /** A client of its own for what a test looks at. */
  readonly client: MongoClient;
  stop(): Promise<void>;
}

/** @param electionMs after which a primary that is not heard of is replaced: on a machine that is busy one that lives may be */
export async function startReplicaSet({ size = 3, electionMs = SOON_MS } = {}): Promise<ReplicaSet> {
  const folder = freshFolder();
  const members: Member[] = [];
  try {
    for (let n = 0; n < size; n += 1) members.push(await startMember(path.join(folder, `${n}`), ['--replSet', NAME]));
    await initiate(members, electionMs);
    const hosts = members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const url = (database: string) => `mongodb://${hosts}/${database}?replicaSet=${NAME}`;
    const client = new MongoClient(url('admin'), { serverSelectionTimeoutMS: START_MS });
    await client.connect();
    const primary = async () => {
      const { primary: found } = await client.db('admin').command({ hello: 1 });
      const member = members.find(({ port }) => found === `127.0.0.1:${port}`);
      if (!member) throw new Error(`no member is the primary ${found}`);
      return member;
    };
    return {
      members,
      url,
      client,
      primary,
      async stepDown() {
        await client.db('admin').command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 });
      },
      async stop() {
        await client.close();
        await end(members, folder);
      },
    };
  } catch (error) {
    await end(members, folder);
    throw error;
  }
}

/** A server that is no member of a replica set. */
export async function startLoneServer() {
  const folder = freshFolder();
  const member = await startMember(path.join(folder, '0'), []);
  return { url: `mongodb://127.0.0.1:${member.port}/mesh`, stop: () => end([member], folder) };
}

/** In memory where there is such a folder: nothing here is about disks, and a killed process loses nothing there either. */
function freshFolder(): string {
  return mkdtempSync(path.join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'mesh-mongod-'));
}

async function end(members: readonly Member[], folder: string): Promise<void> {
  await Promise.all(members.map((member) => member.kill()));
  rmSync(folder, { recursive: true, force: true });
}

async function startMember(folder: string, more: readonly string[]): Promise<Member> {
  mkdirSync(folder);
  const port = await freePort();
  const args = ['--bind_ip', '127.0.0.1', '--port', `${port}`, '--dbpath', folder, '--nounixsocket', '--quiet'];
  const small = ['--wiredTigerCacheSizeGB', '0.25', '--setParameter', 'diagnosticDataCollectionEnabled=false'];
  let child: ChildProcess;
  const start = async () => {
    child = spawn(MONGOD, [...args, ...small, ...more], { stdio: ['ignore', 'ignore', 'inherit'] });
    const { pid } = child;
    // Whatever happens to the process of the tests, none is left.
    process.once('exit', () => pid !== undefined && child.exitCode === null && child.kill('SIGKILL'));
    await answers(port, child);
  };
  await start();
  return {
    port,
    get pid() {
      return child.pid ?? -1;
    },
    start,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
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

async function initiate(members: readonly Member[], electionTimeoutMillis: number): Promise<void> {
  const [first] = members;
  const client = new MongoClient(direct(first?.port ?? 0));
  try {
    const hosts = members.map(({ port }, _id) => ({ _id, host: `127.0.0.1:${port}` }));
    const config = { _id: NAME, members: hosts, settings: { electionTimeoutMillis } };
    await client.db('admin').command({ replSetInitiate: config });
  } finally {
    await client.close();
  }
}

function direct(port: number): string {
  return `mongodb://127.0.0.1:${port}/?directConnection=true`;
}
