import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../core/base/silent-log.ts';
import { formatInstant } from '../../core/base/time.ts';
import { connectivity } from '../../core/history/connectivity.ts';
import { pairHistory } from '../../core/history/pair/flips.ts';
import { identityOf } from '../../core/history/pair/identity.ts';
import { pairRecords } from '../../core/history/pair/pair-records.ts';
import { rangeOf } from '../../core/history/pair/range.ts';
import { getSnapshot, listSnapshots, takeSnapshot } from '../../core/history/snapshots.ts';
import { buildNetworkStates } from '../../core/state/states.ts';
import { openStore } from '../../storage/open.ts';
import { person } from '../../test/kits/plane/kit.ts';
import { outageHistory } from '../../test/kits/plane/outage-history.ts';
import { medianOf, print, printPeakMemory, type Took } from './measure.ts';

/** Figures that grow with the length of a history, on a store on disk. */

const PEERS = 500;
const POLICIES = 200;
const ROUNDS = 7;
const SNAPSHOTS = 200;
const PAGE = 50;
const READS = 200;
const SHORT = 50;
const COMMITS_A_YEAR = 500 * 365;
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'req-bench' } as const;

/** All flips of a pair, as so many checks of it at one instant of which nothing is remembered. */
export async function flipsOfPair(folder: string, revisions: number): Promise<void> {
  const size = { commits: revisions, peers: PEERS, policies: POLICIES, flaps: Math.floor(revisions / 10) };
  const { kit, workspace, began, end } = await outageHistory({ ...size, path: join(folder, 'flips.db') });
  await using _ = kit;
  const { store, clock } = kit.services;
  const range = await rangeOf(kit.services, workspace, { from: formatInstant(began), to: formatInstant(end) });
  const at = formatInstant((began + end) / 2);
  for (const [said, n] of [
    ['closed once', 0],
    ['that flaps', 27],
  ] as const) {
    const [src, dst] = [`app-${n}`, `store-${n}`];
    const pair = {
      src: await identityOf(kit.services, workspace, src, range),
      dst: await identityOf(kit.services, workspace, dst, range),
    };
    let count = 0;
    const flips = await medianOf(ROUNDS, async () => {
      const records = await pairRecords({ store }, workspace, pair, range);
      count = pairHistory(records, range.since, pair).flips.length;
    });
    // The newest state is in memory in a running control plane.
    const check = await medianOf(ROUNDS, async () => {
      const states = buildNetworkStates({ store });
      states.reachability(await states.current(workspace), clock.now());
      return () => connectivity({ store, states, clock }, workspace, { src, dst, at });
    });
    const what = `${revisions} revisions, pair ${said}`;
    print(`${what}, its ${count} flips`, flips);
    print(`${what}, check at an instant`, check);
    printRatio(`${what}, flips as single checks`, flips, check);
  }
  printPeakMemory(`${revisions} revisions`);
}

/** A long history against a short one of as many peers: what is read daily, what a question takes, bytes and memory. */
export async function longHistory(folder: string, commits: number): Promise<void> {
  const paths = { long: join(folder, 'long.db'), short: join(folder, 'short.db') };
  const long = await make(paths.long, commits, PEERS);
  printPeakMemory(`${commits} commits made`);
  for (const { question, ...took } of long.questions) print(`${commits} commits, "${question}"`, took);
  printPeakMemory(`${commits} commits and ${long.questions.length} questions`);
  const short = await make(paths.short, SHORT, PEERS + long.renamed);
  for (const what of ['list', 'get', 'start'] as const) {
    const [took, base] = [await readOf(what, paths.long, long), await readOf(what, paths.short, short)];
    print(`${commits} commits, ${what}`, took);
    print(`${SHORT} commits, ${what}`, base);
    printRatio(`${what}, ${commits} commits to ${SHORT}`, took, base);
  }
  const grown = long.bytes - short.bytes;
  const year = (grown / (commits - SHORT)) * COMMITS_A_YEAR;
  console.log(`${commits} commits, bytes on disk: ${long.bytes}; of ${SHORT}: ${short.bytes}`);
  console.log(`a year at 500 commits a day, MB on disk (scaled): ${Math.round((year + short.bytes) / 1e6)}`);
}

/** A history on disk with snapshots; what questions about it took, and the peers that its renames added. */
async function make(path: string, commits: number, peers: number) {
  const flaps = Math.floor(commits / 5);
  const { kit, workspace, began, end, outages } = await outageHistory({
    commits,
    peers,
    policies: POLICIES,
    flaps,
    path,
  });
  const asked = { as: person('viewer', workspace), workspace };
  const range = { from: formatInstant(began), to: formatInstant(end) };
  const questions = [];
  if (commits > SHORT) {
    for (const { question } of [outages[1], outages[21], outages.at(-1)].flatMap((one) => one ?? [])) {
      const took = await medianOf(3, () => kit.call('find_cause', { question, ...range, limit: PAGE }, asked));
      questions.push({ question, ...took });
    }
  }
  const { services } = kit;
  const state = await services.states.current(workspace);
  const renamed = [...state.peers.keys()].filter((name) => name.startsWith('noise-') && name.endsWith('-new')).length;
  let id = '';
  for (let n = 0; n < SNAPSHOTS; n += 1) {
    kit.clock.time += 1_000;
    const taken = await takeSnapshot(services, workspace, { trigger: 'manual', triggeredBy: 'user:bench' }, WHY);
    id = taken?.uid ?? id;
  }
  const now = kit.clock.time;
  await kit[Symbol.asyncDispose]();
  const { size: bytes } = await stat(path);
  return { workspace, id, renamed, questions, bytes, now };
}

/** One page of snapshots, one snapshot, both {@link READS} times; or the store opened and the network read. */
async function readOf(
  what: 'list' | 'get' | 'start',
  path: string,
  { workspace, id, now }: Awaited<ReturnType<typeof make>>,
): Promise<Took> {
  const open = () => openStore(path, { clock: { now: () => now }, log: silentLog });
  if (what === 'start') {
    return medianOf(ROUNDS, async () => {
      await using opened = closing(await open());
      await buildNetworkStates(opened).current(workspace);
    });
  }
  await using opened = closing(await open());
  const read =
    what === 'list'
      ? () => listSnapshots(opened, workspace, { limit: PAGE })
      : () => getSnapshot(opened, workspace, id);
  // Awaited here: what this returns first closes the store.
  return await medianOf(ROUNDS, async () => {
    for (let n = 0; n < READS; n += 1) await read();
  });
}

function closing(store: Awaited<ReturnType<typeof openStore>>) {
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

function printRatio(what: string, { wall, cpu }: Took, base: Took): void {
  console.log(`${what}, times: ${(wall / base.wall).toFixed(2)} (processor ${(cpu / base.cpu).toFixed(2)})`);
}
