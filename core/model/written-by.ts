/** Annotation of a policy that an agent wrote by itself: the id of the agent. The control plane alone sets it. */
export const WRITTEN_BY = 'mesh.internal/written-by';
