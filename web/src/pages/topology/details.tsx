import { To } from '../../design/to.tsx';
import { Answer } from '../../reach/answer.tsx';
import { queryOf } from '../../reach/asked.ts';
import { type Cell, keyOf, sizeOf } from '../../reach/groups.ts';
import { countText, portsText } from '../../reach/ports.ts';
import { linkTo, route, setQuery } from '../../route/route.ts';
import { type Edge, type Graph, type Node, pairKey } from './model.ts';
import { PathMark } from './path-mark.tsx';

/** What the address picks: one node, or the two ends of an edge. */
export function pickedIn({ nodes, edges }: Graph) {
  const { query } = route.value;
  const [one, other] = [query.get('one') ?? '', query.get('other') ?? ''];
  const node = nodes.find(({ key }) => key === one);
  const edge = other === '' ? undefined : edges.find(({ key }) => key === pairKey(one, other));
  return { node, edge };
}

export function pick(one: string | undefined, other?: string): void {
  setQuery({ one, other });
}

export function NodeDetails({ node, graph }: { node: Node; graph: Graph }) {
  const { name, group, term, within } = node;
  const isGroup = group.kind === 'label' || group.kind === 'unlabelled';
  const ends = graph.edges.flatMap((edge) => {
    if (edge.a !== node && edge.b !== node) return [];
    const isA = edge.a === node;
    return [
      { edge, other: isA ? edge.b : edge.a, out: isA ? edge.there : edge.back, into: isA ? edge.back : edge.there },
    ];
  });
  const [reached, reaching] = [ends.filter(({ out }) => out), ends.filter(({ into }) => into)];
  return (
    <article class="panel stack" aria-label={name}>
      <div class="row">
        <h2 class="break">{name}</h2>
        <span class="dim">
          {group.kind === 'peer'
            ? group.online > 0
              ? 'online'
              : 'offline'
            : `${sizeOf(group)}${group.kind === 'outside' ? '' : `, ${group.online} online`}`}
        </span>
      </div>
      <div class="row">
        {isGroup && (
          <button type="button" onClick={() => setQuery({ expand: keyOf(group), one: undefined, other: undefined })}>
            Show the peers of {name}
          </button>
        )}
        {group.kind === 'peer' && <a href={linkTo('peers', [name])}>Open {name}</a>}
        {term && <a href={linkTo('reachability', [], queryOf({ dst: term }))}>Who reaches {name}?</a>}
        <button type="button" class="quiet push" onClick={() => pick(undefined)}>
          All groups and peers
        </button>
      </div>
      {within && (
        <p>
          Among themselves: <Ports cell={within} />
        </p>
      )}
      <Side title="Reaches" node={node} ends={reached.map(({ out, ...end }) => ({ ...end, cell: out }))} />
      <Side title="Reached by" node={node} ends={reaching.map(({ into, ...end }) => ({ ...end, cell: into }))} />
    </article>
  );
}

interface SideProps {
  readonly title: string;
  readonly node: Node;
  readonly ends: readonly { readonly edge: Edge; readonly other: Node; readonly cell: Cell | undefined }[];
}

function Side({ title, node, ends }: SideProps) {
  return (
    <section class="stack-small">
      <h3>{title}</h3>
      {ends.length === 0 && <p class="dim">Nothing.</p>}
      <ul class="lines">
        {ends.map(({ edge, other, cell }) => (
          <li key={edge.key}>
            <button type="button" class="link break" onClick={() => pick(node.key, other.key)}>
              {other.name}
            </button>
            <span class="row push">
              {cell && <Ports cell={cell} />}
              <PathMark kind={edge.kind} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Ports({ cell }: { cell: Cell }) {
  return (
    <>
      <code>{portsText(cell.allowed, { most: 3, omitted: cell.omitted_ports })}</code>{' '}
      <span class="dim small">
        {countText(cell.open_pairs)} of {countText(cell.pairs)} pairs
      </span>
    </>
  );
}

/** Both directions of a connection: whether it is allowed, why, and by which path. */
export function EdgeDetails({ edge, from }: { edge: Edge; from: Node | undefined }) {
  const { paths } = edge;
  const isTurned = from === edge.b;
  const [a, b] = isTurned ? [edge.b, edge.a] : [edge.a, edge.b];
  const [there, back] = isTurned ? [edge.back, edge.there] : [edge.there, edge.back];
  const at = route.value.query.get('at');
  const counts = paths && pathCounts(paths);
  return (
    <div class="stack" key={edge.key}>
      <div class="row">
        {!at && (
          <span class="row">
            Path: <PathMark kind={edge.kind} /> <span class="dim small">{counts}</span>
          </span>
        )}
        <button type="button" class="quiet push" onClick={() => pick(a.key)}>
          Back to {a.name}
        </button>
      </div>
      <Direction from={a} to={b} cell={there} at={at} />
      <Direction from={b} to={a} cell={back} at={at} />
    </div>
  );
}

function pathCounts({ direct, relayed, failed }: NonNullable<Edge['paths']>): string {
  const counts = [
    [direct, 'direct'],
    [relayed, 'relayed'],
    [failed, 'without a path'],
  ] as const;
  return counts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : [])).join(', ');
}

interface DirectionProps {
  readonly from: Node;
  readonly to: Node;
  readonly cell: Cell | undefined;
  readonly at: string | null;
}

function Direction({ from, to, cell, at }: DirectionProps) {
  if (from.term && to.term) {
    const asked = { src: from.term, dst: to.term, protocol: '', port: '', at };
    return <Answer key={`${JSON.stringify(asked)}`} asked={asked} />;
  }
  return (
    <section class="panel stack-small">
      <h2 class="break">
        {from.name} <To /> {to.name}
      </h2>
      <p>{cell ? <Ports cell={cell} /> : 'None of these pairs is reachable.'}</p>
      <p class="dim small">No label names this group: show its peers to ask about them.</p>
    </section>
  );
}
