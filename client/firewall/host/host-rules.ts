import type { FirewallRules } from '../../../core/model/graph.ts';
import type { runProgram } from '../../run-program.ts';
import type { OwnAddress } from '../own-address.ts';
import { type Blockage, type Judgement, judgementOf } from './blockages.ts';
import { isNftName, nftName } from './nft-name.ts';
import type { Opened, OpenedRecord } from './opened.ts';
import { firewalld } from './programs/firewalld.ts';
import { nft } from './programs/nft.ts';
import type { Tool } from './programs/tool.ts';
import { ufw } from './programs/ufw.ts';
import { readRuleset } from './read-ruleset.ts';

/** The host's own firewall, which a node neither owns nor changes unless it is asked to. */
export interface HostRules {
  /** What of the permitted it drops, and of what that is not known. Never throws. */
  judge(own: OwnAddress, rules: FirewallRules): Promise<Judgement>;
  /** Of a rule that drops, as nft lists it; empty where that is not to be had. */
  ruleText(blockage: Blockage): Promise<string>;
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

export type HostTool = Opened['tool'];
/** Who is active has the rules of the host; nft loads no rules of its own accord. */
const TOOLS: Readonly<Record<HostTool, (interfaceName: string, run: typeof runProgram) => Tool>> = {
  ufw,
  firewalld,
  nft,
};

export function linuxHostRules(interfaceName: string, record: OpenedRecord, run: typeof runProgram): HostRules {
  async function toolHere(): Promise<HostTool> {
    for (const name of ['ufw', 'firewalld'] as const) if (await TOOLS[name](interfaceName, run).isActive()) return name;
    return 'nft';
  }

  async function close(): Promise<void> {
    const left = record.read();
    if (!left) return;
    await TOOLS[left.tool](left.interfaceName, run).close(left.changes);
    record.forget();
  }

  return {
    judge: async (own, rules) => judgementOf(await readRuleset(interfaceName, run), interfaceName, own, rules),
    async ruleText({ table, chain, handle }) {
      if (handle === null || !isNftName(`${table} ${chain}`)) return '';
      const { stdout } = await run('nft', ['--handle', '--terse', 'list', 'chain', ...nftName(`${table} ${chain}`)]);
      const line = stdout.split('\n').find((one) => one.endsWith(` # handle ${handle}`));
      return (line ?? '').replace(/ # handle \d+$/, '').trim();
    },
    async open(blockages) {
      const name = await toolHere();
      const before = record.read();
      if (before && (before.tool !== name || before.interfaceName !== interfaceName)) await close();
      const tool = TOOLS[name](interfaceName, run);
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
  judge: async () => ({ blockages: [], notJudged: [] }),
  ruleText: async () => '',
  open: async () => false,
  opened: () => undefined,
  close: async () => {},
};
