import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { type ClusterPlane, startCluster } from '../test/kits/cluster.ts';
import { FIRST_ADMIN, freshWorkspace } from '../test/kits/http/harness.ts';
import type { Place } from '../test/kits/http/joining.ts';
import { leaderOf } from '../test/kits/leader-of.ts';
import { freeze } from '../test/kits/process/freezer.ts';
import { isInstalled } from '../test/kits/process/needs.ts';
import { hostIn } from '../test/kits/process/set-clock.ts';
import { startOwnTokenCluster } from '../test/kits/servers/nats-cluster.ts';
import { startReplicaSet } from '../test/kits/servers/replica-set.ts';
import { meet } from './faults/clients.ts';

/** The table of docs/cluster.md: `node bench/faults.ts [part of a name]`, as root; all of it takes some six minutes. */
const INSIDE = '--inside';
const args = process.argv.slice(2);
if (!args.includes(INSIDE)) {
  const again = `ip link set lo up && exec "$0" "$@"`;
  const command = ['--net', '--mount', 'sh', '-c', again, process.execPath, import.meta.filename, ...args, INSIDE];
  process.exit(spawnSync('unshare', command, { stdio: 'inherit' }).status ?? 1);
}

/** As MongoDB has it unless told otherwise. */
const ELECTION_MS = 10_000;
const BEFORE_MS = 3_000;
const STANDING_MS = 10_000;
const AWAY_MS = 15_000;
const MEMBER_DISK_MB = 400;
const MB = 1_048_576;

const clockFolder = mkdtempSync(path.join(tmpdir(), 'mesh-clock-'));
const host = isInstalled('faketime') ? hostIn(clockFolder) : undefined;
const mount = (folder: string) => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MEMBER_DISK_MB}m`, 'mesh-bench', folder]);
};
const servers = await startReplicaSet({ electionMs: ELECTION_MS, prepare: mount });
const bus = await startOwnTokenCluster();
const cluster = await startCluster({
  servers,
  config: { app: { rateLimit: 1_000_000, initAdmins: [FIRST_ADMIN] } },
  env: bus.env,
  envOf: (nth) => (nth === 2 && host ? host.env : {}),
});

interface Row {
  readonly name: string;
  readonly command: string;
  fail(place: Place): Promise<unknown>;
}

const follower = async ({ workspace }: Place) => {
  const leader = await leaderOf(servers, cluster, workspace);
  return cluster.planes.find((plane) => plane !== leader) ?? leader;
};
const killed = async (member: { kill(): Promise<void>; start(): Promise<void> }) => {
  await member.kill();
  await after(AWAY_MS);
  await member.start();
};
const stopped = async ({ meshd }: ClusterPlane) => {
  meshd.signal('SIGSTOP');
  await after(STANDING_MS);
  meshd.signal('SIGCONT');
};
const frozen = async (...pids: number[]) => {
  const thaw = await freeze(pids);
  await after(STANDING_MS);
  thaw();
};
/** All processes of a control plane. */
const pidsOf = ({ meshd }: ClusterPlane) =>
  execFileSync('pgrep', ['-g', `${meshd.child.pid}`], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);

const ROWS: readonly Row[] = [
  {
    name: 'primary of MongoDB killed',
    command: '`kill -9 $MONGOD`, started after 15 s',
    fail: async () => killed(await servers.primary()),
  },
  {
    name: 'primary of MongoDB frozen',
    command: '`echo 1 > $CGROUP/cgroup.freeze`, 10 s',
    fail: async () => frozen((await servers.primary()).pid),
  },
  {
    name: 'primary of MongoDB cut off',
    command: '`nft add rule … tcp dport $PORT drop`, 10 s',
    async fail() {
      const { port } = await servers.primary();
      const rules = ['sport', 'dport'].map((end) => `tcp ${end} ${port} drop`).join('; ');
      execFileSync('nft', [`table inet cut { chain in { type filter hook input priority 0; ${rules}; }; }`]);
      await after(STANDING_MS);
      execFileSync('nft', ['delete table inet cut']);
    },
  },
  {
    name: 'disk of the primary full',
    command: '`dd if=/dev/zero of=$DBPATH/filler`, emptied and started after 15 s',
    async fail() {
      const primary = await servers.primary();
      const filler = path.join(primary.folder, 'filler');
      const { bavail, bsize } = statfsSync(primary.folder);
      writeFileSync(filler, Buffer.alloc(Math.floor((bavail * bsize) / MB) * MB, 'x'));
      await after(AWAY_MS);
      rmSync(filler);
      await primary.kill();
      await primary.start();
    },
  },
  {
    name: 'control plane killed',
    command: '`kill -9 $MESHD`, started after 15 s',
    fail: async (place) => killed(await follower(place)),
  },
  {
    name: 'control plane that leads killed',
    command: '`kill -9 $MESHD`, started after 15 s',
    fail: async ({ workspace }) => killed(await leaderOf(servers, cluster, workspace)),
  },
  {
    name: 'control plane stopped',
    command: '`kill -STOP $MESHD`, 10 s',
    fail: async (place) => stopped(await follower(place)),
  },
  {
    name: 'control plane frozen',
    command: '`echo 1 > $CGROUP/cgroup.freeze`, 10 s',
    fail: async (place) => frozen(...pidsOf(await follower(place))),
  },
  {
    name: 'nats-server killed',
    command: '`kill -9 $NATS`, started after 15 s',
    fail: async () => bus.members[0] && killed(bus.members[0]),
  },
  {
    name: 'rolling restart',
    command: '`systemctl restart meshd`, one after the other',
    async fail() {
      for (const plane of cluster.planes) {
        await plane.stop();
        await plane.start();
      }
    },
  },
  {
    name: 'clock of one host set forward',
    command: '`date -s +1hour`',
    async fail() {
      if (!host) throw new Error('faketime is not installed');
      host.set('+1h');
      await after(STANDING_MS);
      host.set('+0');
    },
  },
];

const wanted = args.find((arg) => arg !== INSIDE) ?? '';
console.log('| What fails | Made by | Requests | Errors | Longest without a write | Lost |');
console.log('| --- | --- | --- | --- | --- | --- |');
try {
  for (const [nth, { name, command, fail }] of ROWS.entries()) {
    if (!name.includes(wanted)) continue;
    const place = await freshWorkspace(cluster.api, `fault-${nth}`);
    const { requests, errors, longestMs, lost } = await meet(cluster.planes, place, async () => {
      await after(BEFORE_MS);
      await fail(place);
      await after(BEFORE_MS);
    });
    const seconds = `${(longestMs / 1_000).toFixed(1)} s`;
    console.log(`| ${name} | ${command} | ${requests} | ${errors} | ${seconds} | ${lost} |`);
  }
} catch (error) {
  console.error(error);
} finally {
  await cluster.stop();
  await bus[Symbol.asyncDispose]();
  for (const { folder } of servers.members) execFileSync('umount', ['--lazy', folder]);
  await servers.stop();
  rmSync(clockFolder, { recursive: true, force: true });
}
process.exit();
