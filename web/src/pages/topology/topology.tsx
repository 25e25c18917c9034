import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { GroupingFields } from '../../reach/grouping-fields.tsx';
import { countText } from '../../reach/ports.ts';
import { linkTo, route } from '../../route/route.ts';
import { reachability as words } from '../../texts/reachability.ts';
import { topology as labels } from '../../texts/topology.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Canvas } from './canvas.tsx';
import { EdgeDetails, NodeDetails, pick, pickedIn } from './details.tsx';
import type { Graph, PathKind } from './model.ts';
import { NodeList } from './node-list.tsx';
import { PathMark } from './path-mark.tsx';
import type { Marked, View } from './picture.ts';
import { usePicture } from './use-picture.ts';
import type { Hit } from './view.ts';
import '../../reach/reach.css';
import './topology.css';

const LEGEND: readonly PathKind[] = ['direct', 'relayed', 'failed', 'none'];
const NOTHING: Marked = { nodes: new Set(), edges: new Set() };

/** The network as a picture of groups, and as a list that says the same. */
export default function Topology() {
  const view = useSignal<View | undefined>(undefined);
  const { summary, paths, graph, picture, isBusy, move, placeAnew } = usePicture(view);
  const marked = useComputed(() => (graph.value ? markedIn(graph.value) : NOTHING));
  const { value } = summary.value;
  const shown = graph.value;
  const isNarrowed = route.value.query.has('label');
  if (value && value.groups.length === 0 && !isNarrowed) {
    return (
      <Page title={labels.title}>
        <Empty>
          {words.empty}
          <a class="button primary" href={linkTo('join')}>
            {words.addDevice}
          </a>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={labels.title}>
      <ReadResult of={summary.value} />
      {summary.value.value && <ReadResult of={paths.value} loading="" />}
      {value && shown && (
        <>
          <GroupingFields summary={value} />
          <div class="row">
            <p>
              {labels.drawn(countText(shown.edges.length))}{' '}
              {shown.left > 0 && <strong>{labels.more(countText(shown.left))}</strong>}
              {route.value.query.has('at') && labels.pathsNotThen}
            </p>
            <button type="button" class="push" title={labels.anewWhy} onClick={placeAnew}>
              {labels.anew}
            </button>
          </div>
          <div class="topology">
            <div class="stack-small">
              <Canvas
                picture={picture}
                marked={marked}
                view={view}
                pick={pickHit}
                move={move}
                isBusy={isBusy.value}
                label={labels.picture(shown.nodes.length, shown.edges.length)}
              />
              <ul class="legend row small" aria-label={labels.legend}>
                {LEGEND.map((kind) => (
                  <li key={kind}>
                    <PathMark kind={kind} />
                  </li>
                ))}
              </ul>
            </div>
            <Beside graph={shown} />
          </div>
        </>
      )}
    </Page>
  );
}

/** The list, or what is picked. Keys go on here when it changes. */
function Beside({ graph }: { graph: Graph }) {
  const { node, edge } = pickedIn(graph);
  const picked = edge?.key ?? node?.key ?? '';
  const part = useRef<HTMLDivElement>(null);
  const before = useRef(picked);
  useLayoutEffect(() => {
    if (before.current !== picked) part.current?.focus({ preventScroll: true });
    before.current = picked;
  }, [picked]);
  return (
    <div ref={part} tabIndex={-1} class="beside-picture">
      {edge ? (
        <EdgeDetails edge={edge} from={node} />
      ) : node ? (
        <NodeDetails node={node} graph={graph} />
      ) : (
        <NodeList graph={graph} />
      )}
    </div>
  );
}

function pickHit(hit: Hit | undefined): void {
  if (!hit) pick(undefined);
  else if ('node' in hit) pick(hit.node.key);
  else pick(hit.edge.a.key, hit.edge.b.key);
}

/** What is picked, and what it is connected with. */
function markedIn(graph: Graph): Marked {
  const { node, edge } = pickedIn(graph);
  if (edge) return { nodes: new Set([edge.a.key, edge.b.key]), edges: new Set([edge.key]) };
  if (!node) return NOTHING;
  const own = graph.edges.filter(({ a, b }) => a === node || b === node);
  return { nodes: new Set([node.key]), edges: new Set(own.map(({ key }) => key)) };
}
