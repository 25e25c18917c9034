import { GuardedClock } from '../../core/base/guarded-clock.ts';
import { newId, SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Clock, Store } from '../../core/base/ports.ts';
import type { Leadership, LeadershipState } from '../../plane/leadership.ts';
import type { ReadyCheck } from '../../rest/readiness.ts';
import type { Disk } from './disk.ts';
import type { LogOutput } from './log-output.ts';
import type { StoreState } from './store-maintenance.ts';
import type { Wire } from './wire.ts';

export interface ReadinessParts {
  /** False before the API answers, and from the moment that the plane is asked to end. */
  readonly isUp: () => boolean;
  readonly store: Pick<Store, 'acquire' | 'caughtUp'>;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly wire: Pick<Wire, 'checks'>;
  /** How the file of the store is, and its backups. */
  readonly storeState?: () => StoreState;
  /** Which workspaces this one of several control planes leads; absent of the only one. */
  readonly leadership?: Pick<Leadership, 'state'> | undefined;
  /** Says where the settings of this one of several control planes are not those of the others. */
  readonly settings?: (() => string | undefined) | undefined;
  /** True while the servers of the store choose one that takes writes. Absent of a store that no servers keep. */
  readonly isElecting?: (() => boolean) | undefined;
  /** Where the log is written. */
  readonly output?: Pick<LogOutput, 'lost' | 'isLosing'> | undefined;
}

/** A part that does not answer by then is down. */
const ANSWER_MS = 2_000;
/** A balancer waits no longer than 2 s (deploy/haproxy.cfg): a store that is slow for all control planes is told before that. */
const PROMPT_MS = 1_000;
/** The time for which the last answer is reused, because a check costs a durable write. */
const CACHE_MS = 1_000;
/** Requests wait through an election for so long. */
const ELECTION_MS = 20_000;
/** By then it is known which servers answer. */
const NOTICED_MS = 5_000;
/** A reserve that is still so many times over is told of before it is reached. */
const LOW_SPACE = 4;

/** Returns the checks of /readyz, which run at each request. */
export function buildReadiness(parts: ReadinessParts): () => Promise<readonly ReadyCheck[]> {
  const { isUp, store, disk, clock, wire, storeState, output, leadership, settings, isElecting } = parts;
  let last: { readonly at: number; readonly check: Promise<ReadyCheck> } | undefined;
  let known: ReadyCheck | undefined;
  const excused = excusing(isElecting);
  const look = async () => {
    known = excused(await checkStore(store));
    return known;
  };
  const probeStore = async () => {
    const now = performance.now();
    if (!last || now - last.at >= CACHE_MS) last = { at: now, check: look() };
    if (!isElecting) return last.check;
    return (await withTimeout(last.check, PROMPT_MS)) ?? (known?.state === 'failed' ? known : WAITS);
  };
  return async () => {
    if (!isUp()) return [process('failed', 'it starts or ends: try again in a moment.')];
    const [written, ...listeners] = await Promise.all([probeStore(), ...wire.checks().map(partCheck)]);
    return [
      process('ok', 'serves requests'),
      written,
      checkDisk(disk),
      ...listeners,
      ...(clock instanceof GuardedClock ? [checkClock(clock)] : []),
      ...(storeState ? checkFile(storeState()) : []),
      ...(leadership ? [checkLeadership(leadership.state())] : []),
      ...(settings ? [checkSettings(settings())] : []),
      ...(output ? [checkLog(output)] : []),
    ];
  };
}

const WAITS: ReadyCheck = {
  name: 'store',
  state: 'degraded',
  detail: 'MongoDB takes no writes at the moment, as in an election of its primary: requests wait.',
};

/**
 * Excuses a store that does not answer for as long as that is the same for all control planes, or may be: a balancer that
 * asks others instead betters nothing, and one that finds none ready refuses what would only have waited.
 */
function excusing(isElecting: (() => boolean) | undefined): (check: ReadyCheck) => ReadyCheck {
  let since: number | undefined;
  return (check) => {
    if (check.state === 'ok' || !isElecting) {
      since = undefined;
      return check;
    }
    const now = performance.now();
    since ??= now;
    return now - since >= (isElecting() ? ELECTION_MS : NOTICED_MS) ? check : WAITS;
  };
}

function process(state: ReadyCheck['state'], detail: string): ReadyCheck {
  return { name: 'process', state, detail };
}

/** A lock of its own is taken: a small write that is on disk when it is answered. Then as each request begins. */
async function checkStore(store: ReadinessParts['store']): Promise<ReadyCheck> {
  const name = 'store';
  try {
    const startedAt = performance.now();
    const written = await withTimeout(store.acquire('readiness', newId('r'), 0));
    if (!written) return { name, state: 'failed', detail: 'a small write was not answered within 2 s.' };
    const ms = Math.round(performance.now() - startedAt);
    const read = await withTimeout(store.caughtUp([SYSTEM_WORKSPACE]).then(() => true));
    if (!read) return { name, state: 'failed', detail: 'what was written last was not read within 2 s.' };
    return { name, state: 'ok', detail: `a small durable write took ${ms} ms` };
  } catch (error) {
    return { name, state: 'failed', detail: `it refuses: ${(error as Error).message}.` };
  }
}

function checkDisk(disk: Disk): ReadyCheck {
  const name = 'disk';
  const free = disk.free();
  if (free === undefined) return { name, state: 'ok', detail: 'the store is not on a disk that can be asked' };
  const said = `${inMb(free)} MB are free on the disk of the store`;
  const refused = `below ${inMb(disk.reserve)} MB new records are refused (storage_full): make room.`;
  if (disk.isFull()) return { name, state: 'failed', detail: `Only ${said}, and ${refused}` };
  if (free < LOW_SPACE * disk.reserve) return { name, state: 'degraded', detail: `Only ${said}; ${refused}` };
  return { name, state: 'ok', detail: said };
}

function checkClock(clock: GuardedClock): ReadyCheck {
  const name = 'clock';
  const seconds = Math.round(clock.aheadMs / 1_000);
  const { forward, back } = clock.steps;
  const steps = `steps since the start: ${forward} forward, ${back} back`;
  const off = Math.round(clock.hostAheadMs / 1_000);
  if (off !== 0) {
    const where = `${Math.abs(off)} s ${off > 0 ? 'ahead of' : 'behind'} that of the database`;
    const detail = `The clock of this host is ${where}, which all control planes go by: set it right (${steps}).`;
    return { name, state: 'degraded', detail };
  }
  if (seconds === 0) return { name, state: 'ok', detail: `is that of the host; ${steps}` };
  const detail = `The clock of this host went back and is ${seconds} s behind what was recorded; times run at half speed until it has caught up (${steps}).`;
  return { name, state: 'degraded', detail };
}

/** Nothing where all is well and no backup was made yet. */
function checkFile({ writable, problems, backup }: StoreState): ReadyCheck[] {
  const name = 'database';
  const found = problems.map((detail) => ({ name, state: writable ? 'degraded' : 'failed', detail }) as const);
  if (found.length > 0 || backup === undefined) return found;
  const hours = Math.round(backup.ageMs / 3_600_000);
  return [{ name, state: 'ok', detail: `its newest backup is ${hours} h old` }];
}

/** A control plane that leads no share serves requests all the same. */
function checkLeadership({ shares, all, planes, problem, damaged = [] }: LeadershipState): ReadyCheck {
  const name = 'leadership';
  if (damaged.length > 0) {
    const named = damaged.slice(0, 3).join(', ') + (damaged.length > 3 ? ` and ${damaged.length - 3} more` : '');
    const detail = `Leads ${shares} of ${all} shares, but not ${named}, whose audit log is damaged: jobs rest there and requests are refused. mesh audit verify says more; restore the database.`;
    return { name, state: 'degraded', detail };
  }
  if (problem === undefined) return { name, state: 'ok', detail: `leads ${shares} of ${all} shares; ${planes} live` };
  const detail = `Leads ${shares} of ${all} shares, because ${problem}: jobs and pushes are those of the other control planes.`;
  return { name, state: 'degraded', detail };
}

function checkSettings(problem: string | undefined): ReadyCheck {
  const name = 'settings';
  if (problem === undefined) return { name, state: 'ok', detail: 'are those of the other control planes' };
  return { name, state: 'degraded', detail: `${problem} Give all of them the same.` };
}

function checkLog(output: Pick<LogOutput, 'lost' | 'isLosing'>): ReadyCheck {
  const name = 'log';
  const isLosing = output.isLosing();
  const lost = `${output.lost()} lines were lost since the start`;
  if (!isLosing) return { name, state: 'ok', detail: output.lost() === 0 ? 'every line was written' : lost };
  const detail = `The log cannot be written, ${lost}: make room on its disk, or have somebody read standard error.`;
  return { name, state: 'degraded', detail };
}

async function partCheck({ name, check }: ReturnType<Wire['checks']>[number]): Promise<ReadyCheck> {
  const found = await withTimeout(check());
  return { name, ...(found ?? { state: 'failed', detail: `did not answer within ${ANSWER_MS / 1_000} s.` }) };
}

/** Undefined for an answer that does not come in time. */
function withTimeout<T>(answer: Promise<T>, ms = ANSWER_MS): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}

function inMb(bytes: number): number {
  return Math.floor(bytes / 1_048_576);
}
