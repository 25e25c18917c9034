import { MeshError } from '../../base/errors.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import type { ChangeInput } from './change-input.ts';
import { expectationInputSchema } from './expectation-input.ts';
import type { PlanAnswer } from './planner.ts';

type Refused = Omit<Extract<PlanAnswer, { outcome: 'refused' }>, 'outcome'>;

/** More than a reader takes in; a refusal stays far below the limits of an answer. */
const MAX_QUESTIONS = 5;
const MAX_CHOICES = 4;
const MAX_WARNINGS = 1;
const MAX_PARTS = 20;
const MAX_TEXT = 1_000;

/**
 * An intent that is not planned: why, what to answer, intents that can be sent instead as they are, and what was understood
 * all the same as `changes` and `expectations` of the next call.
 */
export function intentNotUnderstood({ reason, questions, choices, partial, warnings = [] }: Refused): MeshError {
  const asked = questions.slice(0, MAX_QUESTIONS).map(shortened);
  // A choice is sent as it is, so one that is too long is left out, never cut.
  const offered = choices.filter((choice) => choice.length <= MAX_TEXT).slice(0, MAX_CHOICES);
  const why = shortened(reason);
  const hint =
    offered.length > 0 ? [`You can send: ${offered.map((choice) => JSON.stringify(choice)).join(' or ')}.`] : [];
  const warned = warnings.slice(0, MAX_WARNINGS).map(shortened);
  return new MeshError('intent_not_understood', [why, ...asked, ...hint, ...warned].join(' '), {
    reason: why,
    questions: asked,
    choices: offered,
    changes: (partial?.changes ?? []).slice(0, MAX_PARTS).map(inputOf),
    expectations: (partial?.expectations ?? [])
      .slice(0, MAX_PARTS)
      .map(({ part: _, ...one }) => one)
      .filter((one) => expectationInputSchema.safeParse(one).success),
    ...(warned.length > 0 && { warnings: warned }),
  });
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** A change in the form in which callers send it. */
export function inputOf(change: NetworkChange): ChangeInput {
  const { action, resource, name } = change;
  if (change.action === 'delete') return { action, resource, name };
  if (change.resource !== 'MeshPeer') return { action, resource, name, spec: { ...change.spec } };
  const { labels, network } = change;
  return { action, resource, name, spec: { ...(labels && { labels }), ...(network !== undefined && { network }) } };
}
