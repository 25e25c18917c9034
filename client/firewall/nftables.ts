import { createHash } from 'node:crypto';
import { MeshError } from '../../core/errors.ts';
import { runProgram } from '../run-program.ts';
import type { Firewall } from './firewall.ts';
import { removal, renderRules, tableOf } from './render.ts';

/**
 * Looking at every element of large sets costs; it is done so seldom that it takes at most this part of the time. The
 * table itself, its chains and its rules are looked at each time: that is what other programs flush.
 */
const FULL_CHECK_SHARE = 1 / 400;

/** What nft prints of the table: without the elements of sets, and with them. */
interface Printed {
  readonly outline: string;
  readonly whole: string;
}

interface InForce {
  readonly text: string;
  /** Right after it was loaded. */
  printed?: Printed;
}

/** The rules of an interface in nftables. Made anew, it knows nothing of a table that an earlier process left: `apply` replaces it. */
export function nftablesFirewall(
  interfaceName: string,
  run: typeof runProgram = runProgram,
  elapsed: () => number = () => performance.now(),
): Firewall {
  const table = tableOf(interfaceName);
  let inForce: InForce | undefined;
  let nextFullCheck = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other, so that no check sees half of a change. */
  function inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = last.then(step, step);
    last = turn.catch(() => {});
    return turn;
  }

  async function load(text: string): Promise<void> {
    const { code, stderr } = await run('nft', ['-f', '-'], { stdin: text });
    if (code === 0) return;
    throw new MeshError('unavailable', `nft did not take the firewall of ${interfaceName}: ${firstLine(stderr)}`);
  }

  /** `nft -t list table` reads the elements that it does not print; this does not. */
  async function outline(): Promise<string> {
    const { stdout } = await run('nft', ['-t', 'list', 'ruleset', 'inet']);
    const from = stdout.indexOf(`table inet ${table} {\n`);
    return from < 0 ? 'gone' : digestOf(stdout.slice(from, stdout.indexOf('\n}\n', from)));
  }

  async function whole(): Promise<string> {
    const startedAt = elapsed();
    const { stdout } = await run('nft', ['list', 'table', 'inet', table]);
    nextFullCheck = elapsed() + (elapsed() - startedAt) / FULL_CHECK_SHARE;
    return digestOf(stdout);
  }

  async function put(text: string): Promise<void> {
    await load(text);
    const loaded: InForce = { text };
    inForce = loaded;
    // The rules are in force: whoever waits for that does not wait for the look at them.
    void inTurn(async () => {
      if (inForce === loaded) loaded.printed = { outline: await outline(), whole: await whole() };
    });
  }

  async function isAsPut(printed: Printed): Promise<boolean> {
    if ((await outline()) !== printed.outline) return false;
    return elapsed() < nextFullCheck || (await whole()) === printed.whole;
  }

  return {
    apply: (rules, now) => inTurn(() => put(renderRules(interfaceName, rules, now))),
    restore: () =>
      inTurn(async () => {
        if (!inForce) return false;
        if (inForce.printed && (await isAsPut(inForce.printed))) return false;
        await put(inForce.text);
        return true;
      }),
    close: () =>
      inTurn(async () => {
        inForce = undefined;
        await load(removal(interfaceName));
      }),
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
