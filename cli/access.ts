import type { Command } from 'commander';
import type { z } from 'zod';
import { checkConnectivity } from '../tools/connectivity/check-connectivity.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface AccessOptions extends TargetOptions {
  readonly port?: string;
}

type Groups = Extract<z.output<typeof checkConnectivity.output>, { groups: unknown }>;
type Group = Groups['groups'][number];

/** More groups nobody reads. */
const MAX_PAGES = 20;
const COLUMNS = { From: 'from', To: 'to', Ports: 'ports' } as const;

/** `mesh access PEER`: who can reach a peer, and what it can reach. */
export function defineAccess(command: Command): void {
  answering(
    withTarget(command).argument('<peer>', 'name or id').option('--port <n>', 'only by TCP to this port'),
    async (peer: string, { port, ...options }: AccessOptions): Promise<Answer> => {
      const target = targetOf(options);
      const asked = port === undefined ? {} : { port: Number(port) };
      const groupsFor = async (end: object) => {
        const groups: Group[] = [];
        let cursor: string | undefined;
        for (let page = 0; page < MAX_PAGES; page += 1) {
          const values = { ...asked, ...end, ...(cursor !== undefined && { cursor }) };
          const read = await callOperation(target, checkConnectivity, values);
          if (!('groups' in read)) break;
          groups.push(...read.groups);
          cursor = read.next_cursor;
          if (cursor === undefined) break;
        }
        return groups;
      };
      const [incoming, outgoing] = [await groupsFor({ dst: peer }), await groupsFor({ src: peer })];
      const items = [...incoming, ...outgoing]
        .filter(({ allowed }) => allowed === 'ALL' || allowed.length > 0)
        .map((group) => ({ ...group, from: group.src.join(', '), to: group.dst.join(', '), ports: portsOf(group) }));
      return { value: { items }, columns: COLUMNS };
    },
  );
}

function portsOf({ allowed }: Group): string {
  if (allowed === 'ALL') return 'all';
  const spans = allowed.map(({ protocol, from, to }) =>
    from === undefined ? protocol : `${protocol} ${from === to ? from : `${from}-${to}`}`,
  );
  return spans.join(', ');
}
