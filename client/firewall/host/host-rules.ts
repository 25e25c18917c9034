import type { runProgram } from '../../run-program.ts';
import { closedChains, type Judgement } from './closed-chains.ts';
import { chainsOf, LEGACY_TABLES, listingOf, MOST_BYTES } from './nft-listing.ts';
import type { Opened, OpenedRecord } from './opened.ts';

/** The host's own firewall, which a node neither owns nor changes unless it is asked to. */
export interface HostRules {
  /** Finds the chains that are closed to the overlay. Never throws. */
  judge(): Promise<Judgement>;
  /**
   * Returns the addresses of a block that the host translates into others, as Kubernetes does, each with its rules. Never throws.
   *
   * @param when `at start` reads large tables, too, which holds up the agent
   */
  translations(cidr: string, when: 'at start' | 'while up'): Promise<readonly string[]>;
  /**
   * Has the manager of the host accept the overlay interface in its closed chains, and records the changes. Idempotent.
   *
   * @returns whether it changed something
   * @throws MeshError with the command that failed, and its words
   */
  open(judgement: Judgement): Promise<boolean>;
  /** Returns the changes of this node or an earlier one that are still in force. */
  opened(): Opened | undefined;
  /** Reverts those changes, and nothing else. Idempotent. @throws MeshError as `open` */
  close(): Promise<void>;
}

/** Kubernetes with ten thousand services. */
const MOST_BYTES_AT_START = 64 * 1_048_576;

/** Loads the modules that change rules, and that read translations, where there are some: most nodes idle on hosts without. */
export function linuxHostRules(interfaceName: string, record: OpenedRecord, run: typeof runProgram): HostRules {
  const toolOf = async (name: Opened['tool'], ofInterface: string) =>
    (await import('./programs.ts')).toolOf(name, ofInterface, run);

  async function close(): Promise<void> {
    const left = record.read();
    if (!left) return;
    await (await toolOf(left.tool, left.interfaceName)).close(left.changes);
    record.forget();
  }

  return {
    judge: () => closedChains(interfaceName, run),
    async translations(cidr, when) {
      if (!(await mayTranslate(run))) return [];
      const { translationsInto } = await import('./translations.ts');
      return translationsInto(cidr, when === 'at start' ? MOST_BYTES_AT_START : MOST_BYTES, run);
    },
    async open({ manager: name, closed }) {
      const chains = closed.filter(({ manager }) => manager === name);
      if (chains.length === 0) return false;
      const before = record.read();
      if (before && (before.tool !== name || before.interfaceName !== interfaceName)) await close();
      const tool = await toolOf(name, interfaceName);
      const changes = await tool.missing(chains);
      if (changes.length === 0) return false;
      // On disk before the change: whatever ends this process, the next one knows what to take away.
      record.write({
        interfaceName,
        tool: name,
        changes: [...new Set([...(record.read()?.changes ?? []), ...changes])],
      });
      try {
        await tool.open(changes);
      } catch (error) {
        // A partial change is reverted, or stays recorded.
        if (!before) await close().catch(() => {});
        throw error;
      }
      return true;
    },
    opened: () => record.read(),
    close,
  };
}

/** Host rules of a platform without any. */
export const NO_HOST_RULES: HostRules = {
  judge: async () => ({ manager: 'nft', closed: [], unread: [] }),
  translations: async () => [],
  open: async () => false,
  opened: () => undefined,
  close: async () => {},
};

/** Tells whether a host may translate addresses: most hosts do not, and need not load what reads such rules. */
async function mayTranslate(run: typeof runProgram): Promise<boolean> {
  const heads = await listingOf(run)(['list', 'chains'], MOST_BYTES);
  if (typeof heads === 'string' || chainsOf(heads).some(({ base }) => base?.type === 'nat')) return true;
  return (await run('cat', [LEGACY_TABLES])).stdout.trim() !== '';
}
