import { type ReadonlySignal, type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { type Loaded, useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { groupingOf } from '../../reach/groups.ts';
import { useSummary } from '../../reach/use-summary.ts';
import { queryPart, route } from '../../route/route.ts';
import { pictureOf } from './draw.ts';
import { layOut } from './layout.ts';
import { type Graph, graphOf, type Paths } from './model.ts';
import type { Picture, View } from './picture.ts';
import { digestOf, forgetPlaces, keepPlaces, type Place, readPlaces } from './places.ts';

/** What is read, and how it is drawn: a graph is placed in slices, and what stood somewhere before stands there again. */
export function usePicture(view: Signal<View | undefined>) {
  const summary = useSummary();
  const paths = usePaths();
  const graph = useComputed((): Graph | undefined => {
    const { value } = summary.value;
    return value && graphOf(value, paths.value.value, queryPart('label'), queryPart('expand'));
  });
  const picture = useSignal<Picture | undefined>(undefined);
  const again = useSignal(0);
  const known = useRef(readPlaces(workspaceId.peek() ?? ''));
  /** Placed anew, while the answer that is to be placed so was still on its way. */
  const outdated = useRef<unknown>(undefined);
  useSignalEffect(() => {
    again.value;
    const shown = graph.value;
    if (!shown) return undefined;
    if (outdated.current !== undefined && outdated.current !== summary.peek().value) {
      known.current.clear();
      outdated.current = undefined;
    }
    const abort = new AbortController();
    const start = known.current.get(digestOf(route.peek().query.get('expand') ?? ''));
    layOut(shown, known.current, start, abort.signal)
      .then((places) => {
        const isOther = shown.nodes.some(({ key }) => !picture.peek()?.places.has(key));
        keep(places);
        picture.value = pictureOf(shown, places);
        if (isOther) view.value = undefined;
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted) throw error;
      });
    return () => abort.abort();
  });
  function keep(places: ReadonlyMap<string, Place>): void {
    for (const [key, place] of places) {
      const digest = digestOf(key);
      // At the end: what was shown last is kept longest.
      known.current.delete(digest);
      known.current.set(digest, place);
    }
    keepPlaces(workspaceId.peek() ?? '', known.current);
  }
  return {
    summary,
    paths,
    graph,
    picture: picture as ReadonlySignal<Picture | undefined>,
    isBusy: useComputed(() => summary.value.isLoading || paths.value.isLoading || picture.value?.graph !== graph.value),
    move(key: string, place: Place): void {
      const shown = picture.peek();
      if (!shown) return;
      picture.value = pictureOf(shown.graph, new Map(shown.places).set(key, place));
      keep(new Map([[key, place]]));
    },
    placeAnew(): void {
      forgetPlaces(workspaceId.peek() ?? '');
      known.current.clear();
      const { isLoading, value } = summary.peek();
      outdated.current = isLoading ? value : undefined;
      view.value = undefined;
      again.value += 1;
    },
  };
}

/** Counts of paths, which are known of now alone. */
function usePaths(): ReadonlySignal<Loaded<Paths | undefined>> {
  const asked = useComputed(() => {
    const { query } = route.value;
    return query.has('at') ? '' : JSON.stringify(groupingOf(query));
  });
  return useLoaded(async (signal) => {
    workspaceId.value;
    if (asked.value === '') return undefined;
    return answer(api.GET('/api/v1/paths', { params: { query: JSON.parse(asked.value) }, signal }));
  });
}
