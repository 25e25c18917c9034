import type { ReadonlySignal } from '@preact/signals';
import { answer, api } from './client.ts';
import { type Loaded, useLoaded } from './load.ts';
import { workspaceId } from './workspace.ts';

/** The time zone of the workspace: times that name no zone are read by its clocks. */
export function useWorkspaceZone(): ReadonlySignal<Loaded<string>> {
  return useLoaded(async () => {
    const params = { path: { workspaceId: workspaceId.value ?? '' } };
    return (await answer(api.GET('/api/v1/workspaces/{workspaceId}', { params }))).settings.timeZone;
  });
}
