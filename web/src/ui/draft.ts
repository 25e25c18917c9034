import { useLayoutEffect, useMemo } from 'preact/hooks';
import { session } from '../api/session.ts';
import { workspaceId } from '../api/workspace.ts';

/** In memory alone: drafts end with the tab. */
const drafts = new Map<string, unknown>();

/**
 * Gives back what was typed here when the page was last left, by the same person in the same workspace. `keep` says, each time
 * it is drawn, how to tell what is typed and not sent yet: undefined for nothing.
 */
export function useDraft<T>(name: string) {
  const draft = useMemo(() => {
    const key = JSON.stringify([session.peek()?.username, workspaceId.peek(), name]);
    let typed = (): T | undefined => undefined;
    return {
      before: drafts.get(key) as T | undefined,
      keep: (next: () => T | undefined) => {
        typed = next;
      },
      leave: () => {
        const left = typed();
        if (left === undefined) drafts.delete(key);
        else drafts.set(key, left);
      },
    };
  }, []);
  useLayoutEffect(() => draft.leave, []);
  return draft;
}
