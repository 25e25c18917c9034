import { z } from 'zod';
import type { Allowed } from '../reachability/port-sets.ts';
import { portsText } from './words.ts';

/** Groups, or spans, that are told. */
const MAX_TOLD = 5;

const allowed = z.custom<Allowed>();
const groups = z.looseObject({
  asked_pairs: z.int(),
  open_pairs: z.int(),
  at: z.string(),
  groups: z.array(z.looseObject({ src: z.array(z.string()), dst: z.array(z.string()), allowed })),
});
const spans = z.looseObject({
  count: z.int(),
  rows: z.array(z.looseObject({ from: z.string(), to: z.string(), peers: z.array(z.string()), allowed })),
});
const difference = z.looseObject({
  added: z.array(z.unknown()),
  removed: z.array(z.unknown()),
  changed: z.array(z.unknown()),
  connectivity: z.array(z.unknown()),
});

/** What the tool that a question led to has answered, in a sentence or two. */
export function leadAnswerText(answer: unknown): string {
  const reach = groups.safeParse(answer).data;
  if (reach) {
    const told = reach.groups
      .slice(0, MAX_TOLD)
      .map((one) => `${one.src.join(', ')} to ${one.dst.join(', ')} on ${portsText(one.allowed)}`);
    return `At ${reach.at}, ${reach.open_pairs} of ${reach.asked_pairs} connections between peers were open${list(told, reach.groups.length)}`;
  }
  const exposure = spans.safeParse(answer).data;
  if (exposure) {
    const told = exposure.rows
      .slice(0, MAX_TOLD)
      .map((one) => `${one.peers.join(', ')} on ${portsText(one.allowed)} from ${one.from} to ${one.to}`);
    return exposure.count === 0
      ? 'Nobody could, at any time of the range.'
      : `It could be so in the range${list(told, exposure.count)}`;
  }
  const changes = difference.safeParse(answer).data;
  if (!changes) return 'The answer is in done.';
  const { added, removed, changed, connectivity } = changes;
  return `${added.length} resources were added, ${removed.length} removed and ${changed.length} changed; ${connectivity.length} connections between groups of peers are different.`;
}

function list(told: readonly string[], count: number): string {
  if (told.length === 0) return '.';
  const more = count > told.length ? `; and ${count - told.length} more` : '';
  return `: ${told.join('; ')}${more}.`;
}
