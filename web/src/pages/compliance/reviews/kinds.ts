import type { ReviewKind } from '../types.ts';

/** Kinds of reviews, and what a person looks at in each. */
export const KINDS = {
  access: { name: 'Access', what: 'people, agents, tokens and devices, and what each may do' },
  policies: { name: 'Policies', what: 'each policy in force, with its owner and findings' },
  activity: { name: 'Activity', what: 'what the audit log has since the last one' },
} as const satisfies Record<ReviewKind, { readonly name: string; readonly what: string }>;

export function titleOf(kind: ReviewKind): string {
  return `Review of ${kind}`;
}

export function resultText({ confirmed, flagged }: { readonly confirmed: number; readonly flagged: number }): string {
  return `${confirmed} confirmed, ${flagged} flagged`;
}
