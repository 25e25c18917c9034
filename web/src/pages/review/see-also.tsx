import type { Drawing, WorkflowDetail } from '../../api/types.ts';
import { holds } from '../../api/workspace.ts';
import { linkTo } from '../../route/route.ts';
import { ago, DAY_MS } from '../../time/moment.ts';

const MOST = 6;
const KINDS: ReadonlySet<string> = new Set(['MeshPeer', 'MeshPolicy', 'MeshNetwork']);
/** As the effect of a change names every address that is no peer's: it has no past. */
const OUTSIDE = 'outside';
const SPAN_MS = 30 * DAY_MS;

/** The past of what changes, and of single peers that it is about. */
export function SeeAlso({ workflow: { changes }, drawing }: { workflow: WorkflowDetail; drawing: Drawing | null }) {
  if (!holds('snapshots:read')) return null;
  // What is made by the change has no past.
  const written = changes.flatMap(({ resource, name, action }) =>
    KINDS.has(resource) && action !== 'create' ? [[resource, name] as const] : [],
  );
  const rows = [...(drawing?.opens.rows ?? []), ...(drawing?.closes.rows ?? [])];
  const peers = rows.flatMap(({ src, dst, from, to }) => [
    ...(src.length === 1 && src[0] === from && from !== OUTSIDE ? [['MeshPeer', from] as const] : []),
    ...(dst.length === 1 && dst[0] === to && to !== OUTSIDE ? [['MeshPeer', to] as const] : []),
  ]);
  const all = [...new Map([...written, ...peers].map((one) => [one.join(' '), one])).values()].slice(0, MOST);
  if (all.length === 0) return null;
  const range = { from: ago(SPAN_MS), to: ago(0) };
  return (
    <nav class="row" aria-label="See also">
      {all.map(([kind, name]) => (
        <a key={`${kind} ${name}`} class="break" href={linkTo('time', [], { kind, name, ...range })}>
          History of {name}
        </a>
      ))}
    </nav>
  );
}
