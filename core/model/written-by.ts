/** Annotation of a policy that an agent wrote by itself: the id of the agent. The control plane alone sets it. */
export const WRITTEN_BY = 'mesh.internal/written-by';

/**
 * Annotation of a policy that code wrote for orders: the id of who gave them. The control plane alone sets it; whoever changes
 * the policy otherwise takes it off.
 */
export const ORDERED_BY = 'mesh.internal/ordered-by';

/** The authors of policies. */
export interface Authorship {
  /** Id of the agent that writes them by itself; undefined where a person writes or approves them. */
  readonly agent?: string | undefined;
  /** Names of the policies among them that are written for orders, and the id of who gave these. */
  readonly ordered?: { readonly by: string; readonly policies: readonly string[] } | undefined;
}

/**
 * Returns the annotations that a policy is written with. What a person writes or approves is a person's from then on, and what
 * is changed otherwise than by orders of the same owner was not written for them any more.
 */
export function authoredAnnotations(
  action: 'create' | 'update',
  { name, annotations }: { readonly name: string; readonly annotations: Readonly<Record<string, string>> },
  { agent, ordered }: Authorship,
): Record<string, string> {
  const { [WRITTEN_BY]: _, [ORDERED_BY]: orderer, ...rest } = annotations;
  const isOrdered = ordered?.policies.includes(name) === true;
  const by = isOrdered && (action === 'create' || orderer === ordered.by) ? ordered.by : undefined;
  return {
    ...rest,
    ...(agent !== undefined && { [WRITTEN_BY]: agent }),
    ...(by !== undefined && { [ORDERED_BY]: by }),
  };
}
