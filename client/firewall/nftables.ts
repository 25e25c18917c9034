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

/** The rules of an interface in nftables. Made anew, it knows nothing of a table that an earlier process left: `apply` replaces it. */
export function nftablesFirewall(interfaceName: string, run: typeof runProgram = runProgram): Firewall {
  const table = tableOf(interfaceName);
  let inForce: { readonly text: string; readonly outline: string; readonly whole: string } | undefined;
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

  async function digest(...options: readonly string[]): Promise<string> {
    const { code, stdout } = await run('nft', [...options, 'list', 'table', 'inet', table]);
    return code === 0 ? createHash('sha256').update(stdout).digest('hex') : 'gone';
  }

  async function wholeDigest(): Promise<string> {
    const startedAt = performance.now();
    const found = await digest();
    nextFullCheck = performance.now() + (performance.now() - startedAt) / FULL_CHECK_SHARE;
    return found;
  }

  async function put(text: string): Promise<void> {
    await load(text);
    inForce = { text, outline: await digest('-t'), whole: await wholeDigest() };
  }

  return {
    apply: (rules, now) => inTurn(() => put(renderRules(interfaceName, rules, now))),
    restore: () =>
      inTurn(async () => {
        if (!inForce) return false;
        const isSame =
          (await digest('-t')) === inForce.outline &&
          (performance.now() < nextFullCheck || (await wholeDigest()) === inForce.whole);
        if (!isSame) await put(inForce.text);
        return !isSame;
      }),
    close: () =>
      inTurn(async () => {
        inForce = undefined;
        await load(removal(interfaceName));
      }),
  };
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
