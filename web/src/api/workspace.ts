import { computed } from '@preact/signals';
import { queryPart, route } from '../route/route.ts';
import { me } from './session.ts';

/** The workspace of the address, where the person is a member of it. */
export const workspace = computed(() => me.value?.workspaces.find(({ slug }) => slug === route.value.workspace));

export const workspaceId = computed(() => workspace.value?.id);

/** Whether the person holds a scope here: which pages there are. */
export function holds(scope: string): boolean {
  return workspace.value?.scopes.includes(scope) ?? false;
}

/** Scopes by which something is changed. */
const CHANGES = /:(?:write|approve|plan|apply|override|delegate)$/;

/** Whether the person may do something here: what would be refused is not offered, nor a change while the past is looked at. */
export function may(scope: string): boolean {
  return holds(scope) && !(CHANGES.test(scope) && queryPart('at') !== null);
}
