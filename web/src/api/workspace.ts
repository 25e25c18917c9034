import { computed } from '@preact/signals';
import { route } from '../route/route.ts';
import { me } from './session.ts';

/** The workspace of the address, else the first one. */
export const workspace = computed(() => {
  const all = me.value?.workspaces ?? [];
  return all.find(({ slug }) => slug === route.value.workspace) ?? (route.value.workspace ? undefined : all[0]);
});

export const workspaceId = computed(() => workspace.value?.id);

/** Whether the person may do something here: what would be refused is not offered. */
export function may(scope: string): boolean {
  return workspace.value?.scopes.includes(scope) ?? false;
}
