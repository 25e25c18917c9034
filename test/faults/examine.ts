import { setTimeout as after } from 'node:timers/promises';
import type { Ledger, Moment } from './ledger.ts';
import { isOver, type Network, PORTS, type Rule, reaches } from './oracle.ts';
import type { Random } from './random.ts';
import { type Place, read, specOf, type Write } from './writes.ts';

/** What a control plane says of a workspace now. */
interface Said {
  readonly peers: ReadonlyMap<string, string>;
  /** By name the text of the spec, without its end. */
  readonly policies: ReadonlyMap<string, string>;
  readonly addresses: readonly string[];
}

const PAGE = 200;
const MOMENTS_ASKED = 3;
/** On a machine that does more: longer, and it is kept for good. */
const GONE_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 50;
/** Of an answer, characters. */
const MOST_SHOWN = 300;

/** Settles what was not answered, and compares all that a control plane says with the list. @returns a line for each lie */
export async function examine(place: Place, ledger: Ledger, random: Random): Promise<string[]> {
  const findings: string[] = [];
  const said = await whatIsSaid(place, ledger);
  for (const write of [...ledger.open]) findings.push(...settleOpen(write, ledger, said));
  const at = Date.now();
  findings.push(
    ...differences('peer', ledger.network.peers, said.peers),
    ...differences('policy', textsOf(ledger.network, at), said.policies),
  );
  if (new Set(said.addresses).size !== said.addresses.length)
    findings.push(`an address is given twice: ${said.addresses}`);
  const newest = (await list(place, '/audit?limit=1'))[0]?.at;
  if (newest !== undefined) ledger.remember(newest);
  const moments = Array.from({ length: MOMENTS_ASKED }, () => random.pick(ledger.moments));
  findings.push(...(await wrongVerdicts(place, { at: new Date(at).toISOString(), network: ledger.network }, true)));
  for (const moment of moments) findings.push(...(await wrongVerdicts(place, moment, false)));
  findings.push(...(await wronglyTold(place, ledger)), ...(await wronglyJoined(place, ledger, random)));
  return findings;
}

/** A device can do with its token what it was given it for, and each join is counted once on the token that it came with. */
async function wronglyJoined(place: Place, { network, credentials, heard }: Ledger, random: Random): Promise<string[]> {
  const findings: string[] = [];
  const devices = [...credentials].filter(([name]) => network.peers.has(name));
  if (devices.length > 0) {
    const [name, token] = random.pick(devices);
    const { status, body, text } = await place.api('GET', '/api/v1/devices/self/graph', { token });
    if (body?.self?.name !== name)
      findings.push(`the device ${name} is answered ${status}: ${text.slice(0, MOST_SHOWN)}`);
  }
  const joined = [...heard.changes].filter(([change]) => change.startsWith('created MeshPeer '));
  const used = (await list(place, `/tokens?limit=${PAGE}`)).reduce((sum, { usedCount }) => sum + usedCount, 0);
  if (used !== joined.length)
    findings.push(`${joined.length} devices joined, and their tokens were used ${used} times`);
  return findings;
}

/** Waits until what has ended is gone, which happens by itself. */
async function whatIsSaid(place: Place, ledger: Ledger): Promise<Said> {
  const until = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const [peers, policies] = [await list(place, `/peers?limit=${PAGE}`), await list(place, `/policies?limit=${PAGE}`)];
    const names = new Set(policies.map(({ name }) => name));
    const over = [...ledger.network.policies].filter(([, { expiresAt }]) => isOver(expiresAt, Date.now()));
    if (over.every(([name]) => !names.has(name)) || performance.now() > until) {
      for (const [name] of over.filter(([each]) => !names.has(each))) ledger.expired(name);
      return {
        peers: new Map(peers.map(({ name, labels }) => [name, labels.role])),
        policies: new Map(policies.map(({ name, spec: { expiresAt: _, ...spec } }) => [name, JSON.stringify(spec)])),
        addresses: peers.map(({ status }) => status.address),
      };
    }
    await after(LOOK_AGAIN_MS);
  }
}

/** A request that was not answered is done with all that it does, or with nothing of it. */
function settleOpen(write: Write, ledger: Ledger, said: Said): string[] {
  const before = ledger.network;
  const done = write.apply(before);
  const keys = write.changes.map(([, kind, name]) => ({ kind, name }));
  const isAs = (network: Network) =>
    keys.every(({ kind, name }) =>
      kind === 'MeshPeer'
        ? network.peers.get(name) === said.peers.get(name)
        : textOf(network.policies.get(name)) === said.policies.get(name),
    );
  const isDone = isAs(done);
  ledger.settleCut(write, isDone);
  return isDone || isAs(before)
    ? []
    : [`half of it is there: ${write.changes.map((change) => change.join(' ')).join(', ')}`];
}

function differences(what: string, expected: ReadonlyMap<string, string>, said: ReadonlyMap<string, string>): string[] {
  const lost = [...expected].filter(([name]) => !said.has(name)).map(([name]) => `lost: ${what} ${name}`);
  const extra = [...said.keys()].filter((name) => !expected.has(name)).map((name) => `nobody made: ${what} ${name}`);
  const other = [...expected].filter(([name, text]) => said.has(name) && said.get(name) !== text);
  return [...lost, ...extra, ...other.map(([name, text]) => `${what} ${name} is ${said.get(name)}, and was ${text}`)];
}

function textsOf({ policies }: Network, at: number): Map<string, string> {
  const standing = [...policies].filter(([, { expiresAt }]) => !isOver(expiresAt, at));
  return new Map(standing.map(([name, rule]) => [name, JSON.stringify(specOf(rule))]));
}

const textOf = (rule: Rule | undefined) => rule && JSON.stringify(specOf(rule));

/** Each ordered pair of peers on each port, now or at a moment that is over. */
async function wrongVerdicts(place: Place, { at, network }: Moment, isNow: boolean): Promise<string[]> {
  const { body } = await read(place, `/connectivity/matrix${isNow ? '' : `?at=${at}`}`);
  const open = new Set<string>();
  for (const { src, dst, allowed } of body.groups) {
    for (const port of PORTS) {
      if (allowed !== 'ALL' && !allowed.some((range: Range) => isIn(range, port))) continue;
      for (const from of src) for (const to of dst) open.add(`${from} > ${to}:${port}`);
    }
  }
  const instant = Date.parse(isNow ? body.at : at);
  const names = [...network.peers.keys()];
  const wrong = names.flatMap((src) =>
    names.flatMap((dst) =>
      PORTS.map((port) => ({
        pair: `${src} > ${dst}:${port}`,
        expected: reaches(network, src, dst, port, instant),
        src,
        dst,
      })),
    ),
  );
  return wrong
    .filter(({ src, dst, pair, expected }) => src !== dst && open.has(pair) !== expected)
    .map(
      ({ pair, expected }) =>
        `${isNow ? 'now' : `at ${at}`} ${pair} is ${expected ? 'shut' : 'open'}, and should not be`,
    );
}

interface Range {
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
}

const isIn = ({ protocol, from, to }: Range, port: number) => protocol === 'TCP' && from <= port && port <= to;

/** The audit log has each change once, in entries that are numbered without a gap, in the order of their instants. */
async function wronglyTold(place: Place, ledger: Ledger): Promise<string[]> {
  const entries = await entriesAfter(place, ledger.heard.seq);
  const findings: string[] = [];
  for (const { seq, at, changes } of entries) {
    if (seq !== ledger.heard.seq + 1) findings.push(`entry ${seq} of the audit log follows entry ${ledger.heard.seq}`);
    if (at < ledger.heard.at) findings.push(`entry ${seq} of the audit log is of ${at}, before the one before it`);
    ledger.heard.seq = seq;
    ledger.heard.at = at;
    for (const { type, kind, name } of changes ?? []) {
      if (kind !== 'MeshPeer' && kind !== 'MeshPolicy') continue;
      const change = `${type} ${kind} ${name}`;
      ledger.heard.changes.set(change, (ledger.heard.changes.get(change) ?? 0) + 1);
    }
  }
  const changes = new Set([...ledger.told.keys(), ...ledger.heard.changes.keys()]);
  for (const change of changes) {
    const [expected, heard] = [ledger.told.get(change) ?? 0, ledger.heard.changes.get(change) ?? 0];
    if (expected !== heard)
      findings.push(`the audit log tells ${heard} times: ${change}; it happened ${expected} times`);
  }
  return findings;
}

// biome-ignore lint/suspicious/noExplicitAny: entries of the audit log as they are answered.
async function entriesAfter(place: Place, seq: number): Promise<any[]> {
  const entries: { readonly seq: number }[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await read(place, `/audit?limit=${PAGE}${cursor ? `&cursor=${cursor}` : ''}`);
    entries.push(...body.items);
    cursor = (body.items.at(-1)?.seq ?? 0) > seq + 1 ? body.next_cursor : undefined;
  } while (cursor !== undefined);
  return entries.filter((entry) => entry.seq > seq).toReversed();
}

// biome-ignore lint/suspicious/noExplicitAny: each list has its own items.
async function list(place: Place, route: string): Promise<any[]> {
  return (await read(place, route)).body.items;
}
