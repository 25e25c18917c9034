import type { FirewallRules } from '../../../core/model/graph.ts';
import type { runProgram } from '../../run-program.ts';
import type { OwnAddress } from '../own-address.ts';
import type { Blockage, Judgement } from './judgement.ts';
import { MOST_BYTES, mayTranslate, metTables } from './met-tables.ts';
import { isNftName, nftName } from './nft-name.ts';
import type { Opened, OpenedRecord } from './opened.ts';

/** The host's own firewall, which a node neither owns nor changes unless it is asked to. */
export interface HostRules {
  /** What of the permitted it drops, and of what that is not known. Never throws. */
  judge(own: OwnAddress, rules: FirewallRules): Promise<Judgement>;
  /** Of a rule that drops, as nft lists it; empty where that is not to be had. */
  ruleText(blockage: Blockage): Promise<string>;
  /**
   * Addresses of a block that the host translates into others, as Kubernetes does, each with the rules that do. Never throws.
   *
   * @param when `at start` reads large tables, too, which holds up the agent
   */
  translations(cidr: string, when: 'at start' | 'while up'): Promise<readonly string[]>;
  /**
   * Accepts the overlay interface where the host's tool keeps such rules, and notes what it changes for that. Again: no change.
   *
   * @returns whether it changed something
   * @throws MeshError with the command that failed, and what it said
   */
  open(blockages: readonly Blockage[]): Promise<boolean>;
  /** What this node or one before it changed, and has not taken away. */
  opened(): Opened | undefined;
  /** Takes that away again, and nothing else. Idempotent. @throws MeshError as `open` */
  close(): Promise<void>;
}

/** Kubernetes with ten thousand services. */
const MOST_BYTES_AT_START = 64 * 1_048_576;

const NOTHING: Judgement = { blockages: [], notJudged: [] };

/** What judges rules and what changes them is loaded where there are some: most nodes idle on hosts without. */
export function linuxHostRules(interfaceName: string, record: OpenedRecord, run: typeof runProgram): HostRules {
  async function close(): Promise<void> {
    const left = record.read();
    if (!left) return;
    const { toolOf } = await import('./programs/tools.ts');
    await toolOf(left.tool, left.interfaceName, run).close(left.changes);
    record.forget();
  }

  return {
    async judge(own, rules) {
      const met = await metTables(interfaceName, run);
      if (met.tables.length === 0 && met.unread.length === 0) return NOTHING;
      const { readRuleset } = await import('./read-ruleset.ts');
      const { judgementOf } = await import('./blockages.ts');
      return judgementOf(await readRuleset(met, run), interfaceName, own, rules);
    },
    async ruleText({ table, chain, handle }) {
      if (handle === null || !isNftName(`${table} ${chain}`)) return '';
      const { stdout } = await run('nft', ['--handle', '--terse', 'list', 'chain', ...nftName(`${table} ${chain}`)]);
      const line = stdout.split('\n').find((one) => one.endsWith(` # handle ${handle}`));
      return (line ?? '').replace(/ # handle \d+$/, '').trim();
    },
    async translations(cidr, when) {
      if (!(await mayTranslate(run))) return [];
      const { translationsInto } = await import('./translations.ts');
      return translationsInto(cidr, when === 'at start' ? MOST_BYTES_AT_START : MOST_BYTES, run);
    },
    async open(blockages) {
      const { activeTool, toolOf } = await import('./programs/tools.ts');
      const name = await activeTool(interfaceName, run);
      const before = record.read();
      if (before && (before.tool !== name || before.interfaceName !== interfaceName)) await close();
      const tool = toolOf(name, interfaceName, run);
      const changes = await tool.missing(blockages);
      if (changes.length === 0) return false;
      // First on disk: whatever ends this process, the next one knows what to take away.
      record.write({
        interfaceName,
        tool: name,
        changes: [...new Set([...(record.read()?.changes ?? []), ...changes])],
      });
      try {
        await tool.open(changes);
      } catch (error) {
        // What of it was done is taken back, or stays noted.
        if (!before) await close().catch(() => {});
        throw error;
      }
      return true;
    },
    opened: () => record.read(),
    close,
  };
}

/** Where there is none of these. */
export const NO_HOST_RULES: HostRules = {
  judge: async () => NOTHING,
  ruleText: async () => '',
  translations: async () => [],
  open: async () => false,
  opened: () => undefined,
  close: async () => {},
};
