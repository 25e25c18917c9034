/**
 * Returns the actors of the audit log that a text names: itself, as `user:ada`; and of a plain name the person and the agent
 * of that name.
 */
export function actorsNamed(text: string): readonly string[] {
  return text.includes(':') ? [text] : [text, `user:${text}`, `agent:${text}`];
}

/** Describes a field that takes such a text. */
export const ACTOR_FIELD = 'Such as user:ada; a plain name is the person or agent of that name';
