import { useSignal } from '@preact/signals';
import { sizeOf } from '../../reach/groups.ts';
import { texts } from '../../texts/texts.ts';
import { topology as labels } from '../../texts/topology.ts';
import { matches } from '../../ui/table.tsx';
import { pick } from './details.tsx';
import type { Graph } from './model.ts';

/** From so many on there is a search. */
const MANY = 12;

/** All that the picture has, for those who go by keys or do not see it. */
export function NodeList({ graph }: { graph: Graph }) {
  const search = useSignal('');
  const shown = graph.nodes.filter(({ name }) => matches(search.value, [name]));
  return (
    <section class="panel stack-small" aria-label={labels.list}>
      <p class="dim">{labels.pick}</p>
      {graph.nodes.length > MANY && (
        <input
          type="search"
          aria-label={labels.find}
          placeholder={labels.find}
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
          }}
        />
      )}
      <ul class="lines node-list">
        {shown.map(({ key, name, group }) => (
          <li key={key}>
            <button type="button" class="link break" onClick={() => pick(key)}>
              {name}
            </button>
            <span class="dim small push">
              {group.kind === 'peer' ? texts.peers[group.online > 0 ? 'online' : 'offline'] : sizeOf(group)}
            </span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="dim">{texts.common.noMatch}</p>}
    </section>
  );
}
