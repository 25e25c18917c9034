import { createHash } from 'node:crypto';
import { ordered } from '../../base/ordered.ts';
import { formatInstant } from '../../base/time.ts';
import { isOfAgent } from '../../model/presets.ts';
import type { PolicyRecord } from '../../model/resources.ts';
import { comparesRules, lint } from '../../reachability/lint.ts';
import type { HistoryServices } from '../../state/services.ts';
import { counted, listed } from '../check-result.ts';
import type { ItemFacts } from './review-record.ts';

/** Names of policies that have gone, told of one review. */
const MAX_LISTED = 50;

/**
 * The policies in force, each with what lint finds of it, who answers for it and why it is there. Those that hold agents to
 * their presets follow from the agents, and are counted.
 *
 * @param before the items of the finished review before
 */
export async function policyItems(
  { states, clock }: HistoryServices,
  workspace: string,
  before: readonly ItemFacts[] | undefined,
): Promise<{ readonly items: ItemFacts[]; readonly notes: string[]; readonly revision: number }> {
  const state = await states.current(workspace);
  const reach = states.reachability(state, clock.now());
  const findings = Map.groupBy(lint(reach), ({ policy }) => policy);
  const all = [...state.policies.values()];
  const own = all.filter((policy) => !isOfAgent(policy));
  const old = before && new Map(before.map((item) => [item.id, item]));
  const items = own.map((policy): ItemFacts => {
    const { name, annotations } = policy;
    const codes = [...new Set(findings.get(name)?.map(({ code }) => code))].sort();
    const item = {
      id: idOf(policy),
      type: 'policy',
      name,
      facts: { action: policy.spec.action, digest: digestOf(policy) },
      scopes: [],
      people: [],
    } as const;
    return {
      ...item,
      told: {
        owner: textOf(annotations['compliance.owner']),
        justification: textOf(annotations['compliance.justification']),
        since: formatInstant(policy.createdAt),
        ...(codes.length > 0 && { findings: codes.join(', ') }),
        ...(old && { since_last: changeOf(old.get(item.id), item.facts.digest) }),
      },
    };
  });
  const ids = new Set(items.map(({ id }) => id));
  const gone = (before ?? []).filter(({ id }) => !ids.has(id)).map(({ name }) => name);
  const notes = [
    ...(all.length > own.length
      ? [`${counted(all.length - own.length, 'policy', 'policies')} hold agents to their presets and end with them.`]
      : []),
    ...(gone.length > 0 ? [`Gone since the review before: ${listed(gone, MAX_LISTED)}.`] : []),
    ...(comparesRules(reach) ? [] : ['There is too much to compare rules with each other: such findings are missing.']),
  ];
  return { items, notes, revision: state.revision };
}

/** Returns the digest of each policy in force, by the id of its item. */
export async function policyDigests(
  { states }: Pick<HistoryServices, 'states'>,
  workspace: string,
): Promise<ReadonlyMap<string, string>> {
  const { policies } = await states.current(workspace);
  return new Map([...policies.values()].map((policy) => [idOf(policy), digestOf(policy)]));
}

function idOf({ uid }: PolicyRecord): string {
  return `MeshPolicy/${uid}`;
}

function digestOf({ name, spec }: PolicyRecord): string {
  return createHash('sha256')
    .update(JSON.stringify(ordered({ name, spec })))
    .digest('hex')
    .slice(0, 16);
}

function changeOf(old: ItemFacts | undefined, digest: string): string {
  if (!old) return 'added';
  return old.facts['digest'] === digest ? 'as before' : 'changed';
}

/** Annotations have several lines and are long; one line of them is told. */
const MAX_TEXT = 120;

function textOf(text: string | undefined): string {
  if (text === undefined || text === '') return 'none';
  const line = text.replace(/\s+/g, ' ');
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT)}…`;
}
