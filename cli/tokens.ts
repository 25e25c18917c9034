import type { Command } from 'commander';
import { listApiTokens } from '../tools/tokens/list-api-tokens.ts';
import { listJoinTokens } from '../tools/tokens/list-join-tokens.ts';
import { type Answer, answering } from './answer.ts';
import { CliError } from './exit.ts';
import { allPages } from './list-commands.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

const KINDS = { join: listJoinTokens, api: listApiTokens } as const;

const COLUMNS = {
  Id: 'id',
  Kind: 'kind',
  Name: 'name',
  Used: 'usedCount',
  'At most': 'usageLimit',
  Ends: 'expiresAt',
  Labels: 'labels',
  'Devices may ask for': 'deviceLabels',
  Scopes: 'scopes',
  'Token of a rule': 'token',
} as const;

/** `mesh tokens`: the join tokens of the workspace and the API tokens of the caller, never their secrets. */
export function defineTokens(tokens: Command): void {
  answering(withTarget(tokens), async (options: TargetOptions): Promise<Answer> => {
    const target = targetOf(options);
    const listed = await Promise.allSettled(
      Object.entries(KINDS).map(async ([kind, list]) => {
        const { items } = await allPages(target, list, {});
        return items.map((item) => ({ kind, ...item }));
      }),
    );
    // A caller may be allowed to see one kind of token and not the other.
    const refused = listed.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const graver = refused.find((error) => !(error instanceof CliError && error.code === 'forbidden'));
    if (graver !== undefined || refused.length === listed.length) throw graver ?? refused[0];
    const value = { items: listed.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])) };
    return { value, columns: COLUMNS };
  });
}
