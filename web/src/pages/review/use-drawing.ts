import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { type Loaded, useLoaded } from '../../api/load.ts';
import type { RefreshedPreview } from '../../api/types.ts';

interface Drawn {
  /** What the person looks at, and so what they decide about. */
  readonly shown: RefreshedPreview | undefined;
  /** Whether the change would do something else by now than what is shown. */
  readonly isOutdated: boolean;
  readonly loaded: Loaded<RefreshedPreview>;
  readonly showNewest: () => void;
}

/**
 * A change drawn on the network as it is now, and again whenever that changes. What is shown stays until the person asks
 * for the newer one: nobody approves what came under their cursor a moment ago.
 */
export function useDrawing(id: string): ReadonlySignal<Drawn> {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/workflows/{id}/redraw', { params: { path: { id } } })));
  const shown = useSignal<RefreshedPreview | undefined>(undefined);
  useSignalEffect(() => {
    const { value } = loaded.value;
    const before = shown.peek();
    if (value && (!before || isSame(before, value))) shown.value = value;
  });
  return useComputed(() => {
    const { value } = loaded.value;
    return {
      shown: shown.value,
      isOutdated: value !== undefined && shown.value !== undefined && !isSame(shown.value, value),
      loaded: loaded.value,
      showNewest: () => {
        shown.value = value;
      },
    };
  });
}

/** Of what is drawn; who may decide, and at which revision, comes by itself. */
function isSame(one: RefreshedPreview, other: RefreshedPreview): boolean {
  return one.drawing?.digest === other.drawing?.digest && one.problem === other.problem;
}
