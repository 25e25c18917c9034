import type { ReadonlySignal } from '@preact/signals';
import { allPages } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { type Loaded, useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import type { Suggestion } from '../../ui/suggestion.ts';
import { vocabularyOf } from './completions.ts';
import { examplesOf } from './examples.ts';

export interface Vocabulary {
  readonly words: readonly Suggestion[];
  /** Sentences with names of the network. */
  readonly examples: readonly string[];
}

/** Reads names, labels and networks of the workspace once. */
export function useVocabulary(): ReadonlySignal<Loaded<Vocabulary>> {
  return useLoaded(
    async () => {
      workspaceId.value;
      const [peers, networks] = await Promise.all([
        allPages((cursor) =>
          api.GET('/api/v1/peers', {
            params: { query: { limit: 200, fields: ['name', 'labels'], ...(cursor && { cursor }) } },
          }),
        ),
        allPages((cursor) =>
          api.GET('/api/v1/networks', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
        ),
      ]);
      const named = peers.map(({ name, labels = {} }) => ({ name, labels }));
      const words = vocabularyOf(
        named,
        networks.map(({ name }) => name),
      );
      return { words, examples: examplesOf(named) };
    },
    { live: false },
  );
}
