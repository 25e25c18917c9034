import { type ReadonlySignal, useComputed } from '@preact/signals';
import { answer, api } from '../api/client.ts';
import { type Loaded, useLoaded } from '../api/load.ts';
import { workspaceId } from '../api/workspace.ts';
import { route } from '../route/route.ts';
import { groupingOf, type Summary } from './groups.ts';

/** Who reaches whom by groups, as the address has them and at its time. Other parts of the address do not ask again. */
export function useSummary(): ReadonlySignal<Loaded<Summary>> {
  const asked = useComputed(() => {
    const { query } = route.value;
    const at = query.get('at');
    return JSON.stringify({ ...groupingOf(query), ...(at && { at }) });
  });
  return useLoaded((signal) => {
    workspaceId.value;
    return answer(api.GET('/api/v1/connectivity/summary', { params: { query: JSON.parse(asked.value) }, signal }));
  });
}
