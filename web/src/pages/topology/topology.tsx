import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { GroupingFields } from '../../reach/grouping-fields.tsx';
import { countText } from '../../reach/ports.ts';
import { linkTo, queryPart } from '../../route/route.ts';
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
  const pointed = useSignal<Hit | undefined>(undefined);
  const marked = useComputed(() => {
    if (!graph.value) return NOTHING;
    return pointed.value ? marksOf(pointed.value, graph.value) : markedIn(graph.value);
  });
  const point = (hit: Hit | undefined) => {
    pointed.value = hit;
  };
  const { value } = summary.value;
  const shown = graph.value;
  const isNarrowed = queryPart('label') !== null;
  if (value && value.groups.length === 0 && !isNarrowed) {
    return (
      <Page title="Topology">
        <Empty>
          No devices yet. Add one to see who may reach it.
          <a class="button primary" href={linkTo('join')}>
            Add a device
          </a>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Topology">
      <ReadResult of={summary.value} />
      {summary.value.value && <ReadResult of={paths.value} loading="" />}
      {value && shown && (
        <>
          <GroupingFields summary={value} />
          <div class="row">
            <p>
              {countText(shown.edges.length)} {shown.edges.length === 1 ? 'line' : 'lines'} drawn.{' '}
              {shown.left > 0 && (
                <strong>{countText(shown.left)} more, narrow it: only those with most pairs are drawn. </strong>
              )}
              {queryPart('at') !== null && 'Paths are known of now alone.'}
            </p>
            <button type="button" class="push" title="Forgets where everything stood" onClick={placeAnew}>
              Re-layout
            </button>
          </div>
          <div class="topology">
            <div class="stack-small">
              <Canvas
                picture={picture}
                marked={marked}
                view={view}
                pick={pickHit}
                point={point}
                move={move}
                isBusy={isBusy.value}
                label={pictureText(shown)}
              />
              <p class="dim small">
                An arrow points to who can be reached; beside it stand the ports (everything: all of them) and the
                number of pairs of peers. A circle has its number of peers; green at its rim are those online.
              </p>
              <ul class="row small" aria-label="Paths">
                {LEGEND.map((kind) => (
                  <li key={kind}>
                    <PathMark kind={kind} />
                  </li>
                ))}
              </ul>
            </div>
            <Beside graph={shown} point={point} />
          </div>
        </>
      )}
    </Page>
  );
}

/** The list, or what is picked. Keys go on here when it changes. */
function Beside({ graph, point }: { graph: Graph; point: (hit: Hit | undefined) => void }) {
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
        <NodeList graph={graph} point={point} />
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
  if (edge) return marksOf({ edge }, graph);
  return node ? marksOf({ node }, graph) : NOTHING;
}

/** A node with its edges, or an edge with its ends. */
function marksOf(hit: Hit, { edges }: Graph): Marked {
  if ('edge' in hit) return { nodes: new Set([hit.edge.a.key, hit.edge.b.key]), edges: new Set([hit.edge.key]) };
  const { key } = hit.node;
  const own = edges.filter(({ a, b }) => a.key === key || b.key === key);
  return { nodes: new Set([key]), edges: new Set(own.map((edge) => edge.key)) };
}

function pictureText({ nodes, edges }: Graph): string {
  const groups = nodes.length === 1 ? 'group or peer' : 'groups and peers';
  const lines = edges.length === 1 ? 'line' : 'lines';
  return `${nodes.length} ${groups} and ${edges.length} ${lines} between them. The list beside the picture has all of it.`;
}
