import { z } from 'zod';
import { MeshError } from '../../base/errors.ts';
import { orderInputSchema } from '../orders/order.ts';
import type { DraftOrder, PlanAnswer } from './planner.ts';
import { type Vocabulary, vocabularySchema } from './vocabulary.ts';

type Refused = Omit<Extract<PlanAnswer, { outcome: 'refused' }>, 'outcome'>;

/** More than a reader takes in; a refusal stays far below the limits of an answer. */
const MAX_QUESTIONS = 5;
const MAX_CHOICES = 4;
const MAX_WARNINGS = 1;
const MAX_TEXT = 1_000;
/** Characters of a draft as JSON. */
const MAX_DRAFT = 6_000;

const draftOrderSchema = z
  .strictObject({
    ...orderInputSchema.shape,
    do: orderInputSchema.shape.do.optional().describe('Left out where it is not certain'),
    from: z.array(z.string()).describe('Empty where it was not understood'),
    to: z.array(z.string()).describe('Empty where it was not understood'),
    ports: z.array(z.string()).optional().describe('Empty where they were not understood'),
    for: z.string().optional().describe('Empty where the end was not understood'),
  })
  .meta({ id: 'DraftOrder' });

/** Members of the problem details of an intent that is not planned. */
export const notUnderstoodFields = {
  reason: z.string(),
  questions: z.array(z.string()),
  choices: z.array(z.string()).describe('Sentences that can be sent instead, as they are'),
  draft: z
    .strictObject({
      orders: z.array(draftOrderSchema),
      unread: z.array(z.string()).describe('Words of the intent that were not read'),
    })
    .describe('The certain parts, to be completed; refused as they are'),
  vocabulary: vocabularySchema.describe('Labels of peers with their numbers, and names near unknown words'),
  next: z.string().describe('What an agent does next'),
  warnings: z.array(z.string()).optional(),
};

/** Returns the error of an intent that is not planned: why, what to answer, and what was recognized, for the caller to complete. */
export function intentNotUnderstood(
  { reason, questions, choices, draft, warnings = [] }: Refused,
  vocabulary: Vocabulary,
): MeshError {
  const asked = questions.slice(0, MAX_QUESTIONS).map(shortened);
  // A choice is sent as it is, so one that is too long is left out, never cut.
  const offered = choices.filter((choice) => choice.length <= MAX_TEXT).slice(0, MAX_CHOICES);
  const why = shortened(reason);
  const hint =
    offered.length > 0 ? [`You can send: ${offered.map((choice) => JSON.stringify(choice)).join(' or ')}.`] : [];
  const warned = warnings.slice(0, MAX_WARNINGS).map(shortened);
  const orders = boundedDraft((draft?.orders ?? []).map(incomplete));
  return new MeshError('intent_not_understood', [why, ...asked, ...hint, ...warned].join(' '), {
    reason: why,
    questions: asked,
    choices: offered,
    draft: { orders, unread: (draft?.unread ?? []).map(shortened) },
    vocabulary,
    next: orders.length > 0 ? COMPLETE : WRITE,
    ...(warned.length > 0 && { warnings: warned }),
  });
}

const COMPLETE =
  'Check every part of these draft orders against what the person meant, fill in each empty part and `do`, leave out `ports` for all ports, and send them to plan_network_change as `orders`. As they are, they are refused.';
const WRITE =
  'Send plan_network_change with `orders` in place of the sentence: do, from, to and ports, by the names and labels of the vocabulary.';

/** Leaves `do` out of an order with both ends, so that no draft can be sent unread: the schema of an order requires it. */
function incomplete(order: DraftOrder): DraftOrder {
  const { do: _, ...rest } = order;
  return order.from.length > 0 && order.to.length > 0 ? rest : order;
}

/** Returns the first orders that fit. */
function boundedDraft(orders: readonly DraftOrder[]): DraftOrder[] {
  let left = MAX_DRAFT;
  return orders.filter((order) => {
    left -= JSON.stringify(order).length;
    return left >= 0;
  });
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
