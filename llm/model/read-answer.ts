import type { OrderInput } from '../../core/intent/orders/order.ts';
import type { OrderedInput } from '../../core/intent/plan/edits.ts';
import type { AnswerForm, ModelAnswer } from './answer-form.ts';

export type ReadAnswer =
  | { readonly answer: ModelAnswer; readonly ordered: OrderedInput }
  /** `outside`: it named what it was not shown; no second try makes that trustworthy. */
  | { readonly answer?: undefined; readonly outside: boolean; readonly issues: readonly string[] };

/**
 * Reads an answer by the form that was asked for: a compatible server may accept a schema and not enforce it. JSON in a fence
 * or in prose is read too, and what is left out is empty.
 */
export function readAnswer(text: string, form: AnswerForm): ReadAnswer {
  const value = jsonIn(text);
  if (typeof value !== 'object' || value === null) {
    return { outside: false, issues: ['the answer is not one JSON object'] };
  }
  const parsed = form.safeParse(withoutNulls(value));
  if (!parsed.success) {
    const { issues } = parsed.error;
    return {
      outside: issues.some(
        ({ code, path }) => code === 'invalid_value' && path.some((step) => NAME_FIELDS.has(String(step))),
      ),
      issues: issues.map(({ path, message }) => `${path.join('/')}: ${message}`),
    };
  }
  const answer = parsed.data;
  const documents: unknown[] = [];
  for (const [index, document] of answer.documents.entries()) {
    const resource = jsonIn(document);
    if (typeof resource !== 'object') {
      return { outside: false, issues: [`documents/${index}: the document is not one JSON object`] };
    }
    documents.push(resource);
  }
  return { answer, ordered: orderedOf(answer, documents) };
}

/** Fields whose values are enumerations of names. */
const NAME_FIELDS: ReadonlySet<string> = new Set([
  'from',
  'to',
  'from_with',
  'to_with',
  'except_from',
  'except_to',
  'peer',
  'labels',
  'clear',
  'network',
  'delete',
]);

/** Returns the JSON of a text: all of it, or from its first brace to its last. Undefined for none. */
function jsonIn(text: string): unknown {
  for (const part of [text, text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)]) {
    try {
      return JSON.parse(part);
    } catch {
      // The next part, or none.
    }
  }
  return undefined;
}

/** Returns a value whose objects lack the fields that are null: absent, by the form. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

function orderedOf(answer: ModelAnswer, documents: readonly unknown[]): OrderedInput {
  return {
    orders: answer.orders.map(orderOf),
    ...(answer.set.length > 0 && {
      set: answer.set.map(({ peer, labels, clear, network }) => ({
        peer,
        ...(labels.length + clear.length > 0 && { labels: [...labels, ...clear.map((key) => `${key}=`)] }),
        ...(network !== null && { network }),
      })),
    }),
    ...(answer.delete.length > 0 && { delete: answer.delete }),
    ...(documents.length > 0 && { documents }),
  };
}

function orderOf({ from_with, to_with, ...order }: ModelAnswer['orders'][number]): OrderInput {
  const { side, ports, both_ways, starts, for: duration, until, except_from, except_to } = order;
  return {
    do: order.do,
    from: withLabels(order.from, from_with),
    to: withLabels(order.to, to_with),
    ...(except_from.length > 0 && { except_from }),
    ...(except_to.length > 0 && { except_to }),
    ...(side !== null && { side }),
    ...(ports.length > 0 && { ports }),
    ...(both_ways && { both_ways }),
    ...(starts !== null && starts !== '' && { starts }),
    ...(duration !== null && duration !== '' && { for: duration }),
    ...(until !== null && until !== '' && { until }),
  };
}

/** Labels join those of a word; with every peer they stand alone, and no labels narrow a name. */
function withLabels(words: readonly string[], labels: readonly string[]): string[] {
  if (labels.length === 0) return [...words];
  if (words.length === 0) return [labels.join(',')];
  return words.map((word) => {
    if (word === 'peers') return labels.join(',');
    return word.includes('=') ? [word, ...labels].join(',') : word;
  });
}
