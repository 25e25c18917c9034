/** Annotation of a policy that an agent wrote by itself: the id of the agent. The control plane alone sets it. */
export const WRITTEN_BY = 'mesh.internal/written-by';

/**
 * Annotation of a policy that code wrote for orders: the id of who gave them. The control plane alone sets it; whoever changes
 * the policy otherwise takes it off.
 */
export const ORDERED_BY = 'mesh.internal/ordered-by';
