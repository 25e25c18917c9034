import type { FirewallRules } from '../../../core/model/graph.ts';
import type { runProgram } from '../../run-program.ts';
import type { OwnAddress } from '../own-address.ts';
import { type Blockage, blockagesOf } from './blockages.ts';
import { parseRuleset } from './ruleset.ts';

/** The host's own firewall, which a node neither owns nor changes unless it is asked to. */
export interface HostRules {
  /** What of the permitted it drops. Empty where that is not certain, or there is no nftables. */
  blockages(own: OwnAddress, rules: FirewallRules): Promise<readonly Blockage[]>;
  /** Accepts the overlay interface, where the host's tool keeps such rules. Again: no change. @returns that tool */
  open(blockages: readonly Blockage[]): Promise<HostTool>;
  /** Takes that away again. Idempotent. */
  close(): Promise<void>;
}

export type HostTool = 'ufw' | 'firewalld' | 'nft';

/** On a rule that is ours in a chain of the host. */
const commentOf = (interfaceName: string) => `mesh ${interfaceName}`;

export function linuxHostRules(interfaceName: string, run: typeof runProgram): HostRules {
  const isDone = async (file: string, args: readonly string[]) => (await run(file, args)).code === 0;
  const isActive = {
    ufw: async () => /^Status: active/m.test((await run('ufw', ['status'])).stdout),
    firewalld: () => isDone('firewall-cmd', ['--state']),
  };
  const ufwRule = ['allow', 'in', 'on', interfaceName] as const;
  /** Now, and at each later start and reload. */
  const zone = async (verb: 'add' | 'remove') => {
    for (const kept of [[], ['--permanent']]) {
      await run('firewall-cmd', [...kept, '--zone=trusted', `--${verb}-interface=${interfaceName}`]);
    }
  };
  const listing = async () => (await run('nft', ['--terse', '--handle', 'list', 'ruleset'])).stdout;
  const ours = (text: string) => text.includes(`comment "${commentOf(interfaceName)}"`);

  return {
    blockages: async (own, rules) => blockagesOf(parseRuleset(await listing()), interfaceName, own, rules),
    async open(blockages) {
      if (await isActive.ufw()) {
        await run('ufw', [...ufwRule, 'comment', commentOf(interfaceName)]);
        return 'ufw';
      }
      if (await isActive.firewalld()) {
        await zone('add');
        return 'firewalld';
      }
      // A chain that a rule jumps to is left alone: what counts is where packets meet the firewall.
      const bases = parseRuleset(await listing()).filter(
        ({ table, base }) => base?.hook === 'input' && blockages.some((one) => one.table === table),
      );
      for (const { table, name } of bases.filter(({ rules }) => !rules.some(({ text }) => ours(text)))) {
        const accept = `insert rule ${table} ${name} iifname "${interfaceName}" accept comment "${commentOf(interfaceName)}"`;
        await run('nft', ['-f', '-'], { stdin: `${accept}\n` });
      }
      return 'nft';
    },
    async close() {
      if (await isActive.ufw()) await run('ufw', ['--force', 'delete', ...ufwRule]);
      if (await isActive.firewalld()) await zone('remove');
      for (const { table, name, rules } of parseRuleset(await listing())) {
        for (const { text, handle } of rules) {
          if (ours(text)) await run('nft', ['delete', 'rule', ...table.split(' '), name, 'handle', `${handle}`]);
        }
      }
    },
  };
}

/** Where there is none of these. */
export const NO_HOST_RULES: HostRules = {
  blockages: async () => [],
  open: async () => 'nft',
  close: async () => {},
};
