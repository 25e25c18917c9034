import { useSignal } from '@preact/signals';
import { sizeOf } from '../../reach/groups.ts';
import { matches, NO_MATCH } from '../../ui/table.tsx';
import { pick } from './details.tsx';
import { hueColour } from './hues.ts';
import type { Graph } from './model.ts';
import type { Hit } from './view.ts';

/** From so many on there is a search. */
const MANY = 12;
const FIND = 'Find in the list';

/** All that the picture has, for those who go by keys or do not see it. What has the focus stands out in the picture, with its ports. */
export function NodeList({ graph, point }: { graph: Graph; point: (hit: Hit | undefined) => void }) {
  const search = useSignal('');
  const shown = graph.nodes.filter(({ name }) => matches(search.value, [name]));
  return (
    <section class="panel stack-small" aria-label="Groups and peers">
      <p class="dim">Pick a group or a peer, in the picture or here.</p>
      {graph.nodes.length > MANY && (
        <input
          type="search"
          aria-label={FIND}
          placeholder={FIND}
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
          }}
        />
      )}
      <ul class="lines node-list">
        {shown.map((node) => (
          <li key={node.key} onMouseEnter={() => point({ node })} onMouseLeave={() => point(undefined)}>
            <button
              type="button"
              class="link break"
              onFocus={() => point({ node })}
              onBlur={() => point(undefined)}
              onClick={() => {
                point(undefined);
                pick(node.key);
              }}
            >
              <span
                class="dot"
                aria-hidden="true"
                style={node.hue === undefined ? {} : { background: hueColour(node.hue) }}
              />
              {node.name}
            </button>
            <span class="dim small push">
              {node.group.kind === 'peer' ? (node.group.online > 0 ? 'online' : 'offline') : sizeOf(node.group)}
            </span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="dim">{NO_MATCH}</p>}
    </section>
  );
}
