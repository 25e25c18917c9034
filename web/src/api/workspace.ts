import { computed } from '@preact/signals';
import { route } from '../route/route.ts';
import { me } from './session.ts';

/** The workspace of the address, where the person is a member of it. */
export const workspace = computed(() => me.value?.workspaces.find(({ slug }) => slug === route.value.workspace));

export const workspaceId = computed(() => workspace.value?.id);

/** Whether the person may do something here: what would be refused is not offered. */
export function may(scope: string): boolean {
  return workspace.value?.scopes.includes(scope) ?? false;
}
