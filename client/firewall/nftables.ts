import { createHash } from 'node:crypto';
import { MeshError } from '../../core/base/errors.ts';
import { runProgram, type StartProgram, startProgram } from '../run-program.ts';
import type { Firewall } from './firewall.ts';
import type { Guard } from './guard.ts';
import type { OwnAddress } from './own-address.ts';
import { OwnTransactions } from './own-transaction.ts';
import { removal, renderRules, renewal, tableOf } from './render.ts';
import { OWN_ADDRESS } from './render-address.ts';
import { serialiser } from './serialise.ts';
import { watchChanges } from './watch.ts';

/**
 * An interface whose agent ended or hangs is closed after this: nobody would take a revoked peer out of it. A supervisor
 * that starts another agent within this time finds it open.
 */
const LEASE_MS = 60_000;
/** So that a renewal may fail or be late twice. */
const RENEWALS_IN_A_LEASE = 4;

/**
 * Looks at the table, each sees what the one before does and more. A look takes at most its share of the time: with few
 * rules and elements the whole table is looked at each time, else at least its chains, since other programs flush tables.
 */
const LOOKS = [
  // `nft list tables` reads all elements to print none; this does not.
  { nft: () => ['list', 'chains', 'inet'], share: 1 },
  // `nft -t list table` reads them, too.
  { nft: () => ['-t', 'list', 'ruleset', 'inet'], share: 1 / 200 },
  { nft: (table: string) => ['list', 'table', 'inet', table], share: 1 / 400 },
] as const;
type Look = (typeof LOOKS)[number];
/** In place of a digest. */
const GONE = 'gone';

interface InForce {
  /** Its number: later ones have higher ones. */
  readonly load: number;
  readonly own: OwnAddress;
  /** With marks for a guard, or without. */
  readonly textOf: (isGuarded: boolean) => string;
  /** When the lease began, by `elapsed`. */
  leasedAt: number;
  /** Digest of each look right after the load. */
  seen?: Map<Look, string>;
}

export interface NftablesOptions {
  readonly run?: typeof runProgram;
  /** Milliseconds that do not pass while the machine sleeps, as the kernel counts a lease. */
  readonly elapsed?: () => number;
  readonly leaseMs?: number;
  /** Denies while the rules are gone. */
  readonly guard?: Guard;
  readonly start?: StartProgram;
}

/** The rules of an interface in nftables. Made anew, it knows nothing of a table that an earlier process left: `apply` replaces it. */
export function nftablesFirewall(
  interfaceName: string,
  {
    run = runProgram,
    elapsed = () => performance.now(),
    leaseMs = LEASE_MS,
    guard,
    start = startProgram,
  }: NftablesOptions = {},
): Firewall {
  const table = tableOf(interfaceName);
  const transactions = new OwnTransactions(table);
  let inForce: InForce | undefined;
  /** Rules were asked for that nft did not take: those in force are not what the network permits, and end with their lease. */
  let isBehind = false;
  let loads = 0;
  /** The load after which someone else removed something, as far as is told. */
  let removedAfter = 0;
  let isGuarded = guard !== undefined;
  const nextAt = new Map<Look, number>();
  const serialise = serialiser();

  async function load(text: string): Promise<void> {
    const { code, stderr } = await run('nft', ['-f', '-'], { stdin: text });
    if (code === 0) return;
    throw new MeshError('unavailable', `nft did not take the firewall of ${interfaceName}: ${firstLine(stderr)}`);
  }

  async function see(look: Look): Promise<string> {
    const startedAt = elapsed();
    const { stdout } = await run('nft', look.nft(table));
    nextAt.set(look, elapsed() + (elapsed() - startedAt) * (1 / look.share - 1));
    const from = stdout.indexOf(`table inet ${table} {\n`);
    if (from < 0) return GONE;
    return digestOf(stdout.slice(from, stdout.indexOf('\n}\n', from)).replace(/ expires \w+/g, ''));
  }

  async function put(wanted: Pick<InForce, 'own' | 'textOf'>): Promise<void> {
    const leasedAt = elapsed();
    // A load that fails may have been put in force all the same, and has its number.
    loads += 1;
    const number = loads;
    await load(transactions.marked(number, wanted.textOf(isGuarded)));
    const loaded: InForce = { ...wanted, load: number, leasedAt };
    inForce = loaded;
    // The rules are in force: whoever waits for that does not wait for the looks at them.
    void serialise(async () => {
      if (inForce !== loaded || (await isLeftUnguarded())) return;
      await seenOf(loaded);
    });
  }

  async function seenOf(loaded: InForce): Promise<Map<Look, string>> {
    if (loaded.seen) return loaded.seen;
    const seen = new Map<Look, string>();
    for (const look of LOOKS) seen.set(look, await see(look));
    loaded.seen = seen;
    return seen;
  }

  /** Once the rules are there: before them it would close the interface. */
  async function isLeftUnguarded(): Promise<boolean> {
    if (!guard || !isGuarded || !inForce || (await guard.keep())) return false;
    isGuarded = false;
    await put(inForce);
    return true;
  }

  /** @returns false where something removed what it would renew */
  async function renew(lease: InForce): Promise<boolean> {
    const leasedAt = elapsed();
    if (isBehind || leasedAt - lease.leasedAt < leaseMs / RENEWALS_IN_A_LEASE) return true;
    const text = transactions.marked(lease.load, renewal(interfaceName, lease.own, leaseMs));
    const { code } = await run('nft', ['-f', '-'], { stdin: text });
    if (code !== 0) return false;
    lease.leasedAt = leasedAt;
    return true;
  }

  /** Looks leave out the leased element of rules that end with their lease. */
  function nextLook(isClose: boolean): Look {
    if (isBehind) return LOOKS[1];
    return LOOKS.findLast((one) => isClose || elapsed() >= (nextAt.get(one) ?? 0)) ?? LOOKS[0];
  }

  async function isAsPut(loaded: InForce, look: Look): Promise<boolean> {
    const before = (await seenOf(loaded)).get(look);
    return before !== GONE && (await see(look)) === before;
  }

  return {
    apply: (own, rules, now) =>
      serialise(async () => {
        isBehind = true;
        await put({ own, textOf: (isGuarded) => renderRules(interfaceName, { own, rules, now, leaseMs, isGuarded }) });
        isBehind = false;
      }),
    maintain: (look) =>
      serialise(async () => {
        if (!inForce) return false;
        // Told removals need no look: between a load and the first look at it, that look would take the rest for whole.
        const isRemoved = removedAfter >= inForce.load;
        // Before anything that takes time: a machine that slept or was busy may have little left.
        if (!isRemoved && (await renew(inForce)) && (await isAsPut(inForce, nextLook(look === 'closely')))) {
          await isLeftUnguarded();
          return false;
        }
        await put(inForce);
        return true;
      }),
    isGuarded: () => isGuarded,
    watch: (onRemoved, onHostChanged) =>
      watchChanges(start, table, transactions, {
        onRemoved(removal) {
          if (removal !== 'lost') removedAfter = Math.max(removedAfter, removal.afterLoad ?? inForce?.load ?? 0);
          onRemoved();
        },
        onHostChanged,
      }),
    close: () =>
      serialise(async () => {
        inForce = undefined;
        await guard?.close();
        await load(removal(interfaceName));
      }),
  };
}

/** Tells whether rules that were left of an interface still let anything through, and whether there are any. */
export async function leaseOf(
  interfaceName: string,
  run: typeof runProgram = runProgram,
): Promise<'running' | 'ended' | 'gone'> {
  const { code, stdout } = await run('nft', ['list', 'set', 'inet', tableOf(interfaceName), OWN_ADDRESS]);
  if (code !== 0) return 'gone';
  return stdout.includes(' expires ') ? 'running' : 'ended';
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
