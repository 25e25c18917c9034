import type { Problem } from '../../api/problem.ts';
import type { Order } from '../../api/types.ts';
import type { Suggestion } from '../../ui/suggestion.ts';

/** The recognized part of a sentence that was not read: orders whose unknown parts are empty, and names that were meant perhaps. */
export interface Draft {
  readonly orders: readonly Partial<Order>[];
  readonly near: readonly Suggestion[];
}

interface DraftExtension {
  readonly draft?: { readonly orders?: readonly Partial<Order>[] };
  readonly vocabulary?: { readonly near?: readonly { readonly word: string; readonly names: readonly string[] }[] };
}

/** Returns the draft of a refusal; one empty order where nothing was recognized. */
export function draftOf({ more }: Pick<Problem, 'more'>): Draft {
  const { draft, vocabulary } = more as DraftExtension;
  const orders = draft?.orders ?? [];
  const near = (vocabulary?.near ?? []).flatMap(({ word, names }) =>
    names.map((name) => ({ word: name, about: `near “${word}”` })),
  );
  return { orders: orders.length > 0 ? orders : [{}], near };
}
