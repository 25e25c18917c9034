import type { ShownChange } from '../api/types.ts';
import { YamlDiff } from './yaml-diff.tsx';

/** What is written: how a resource differs afterwards, on demand. */
export function ChangedResource({ change: { action, resource, name, before, after } }: { change: ShownChange }) {
  return (
    <details>
      <summary class="break">
        {action} {resource} <strong>{name}</strong>
      </summary>
      <YamlDiff before={before} after={after} />
    </details>
  );
}
