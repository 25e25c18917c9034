import { queryOf } from '../../reach/asked.ts';
import { GroupingFields } from '../../reach/grouping-fields.tsx';
import { type Cell, type Group, keyOf, nameOf, type Summary, sizeOf, termOf } from '../../reach/groups.ts';
import { countText, portsText } from '../../reach/ports.ts';
import { groupsLeftText } from '../../reach/why.tsx';
import { linkTo, queryPart, route, setQuery } from '../../route/route.ts';
import { NO_MATCH } from '../../ui/table.tsx';

/** Shades of a cell, by the share of pairs that may talk. */
const HEATS = 4;

/** Groups drawn: more columns than that nobody reads. */
const MOST = 40;

/** Groups of peers against each other as a heat map: each cell says on hover how many pairs may talk, and on what, and leads to them. */
export function Matrix({ summary }: { summary: Summary }) {
  const { groups, cells, by, omitted_groups: omitted, omitted_cells: left } = summary;
  const isAll = queryPart('empty') !== null;
  const sources = new Set(cells.map(({ src }) => src));
  const targets = new Set(cells.map(({ dst }) => dst));
  const shown = groups.map((group, place) => ({ group, place })).slice(0, MOST);
  const rows = isAll ? shown : shown.filter(({ place }) => sources.has(place));
  const columns = isAll ? shown : shown.filter(({ place }) => targets.has(place));
  const hidden = groups.length - shown.length + (omitted > 0 ? omitted - 1 : 0);
  const [open, pairs] = [
    cells.reduce((sum, cell) => sum + (isOutside(groups, cell) ? 0 : cell.open_pairs), 0),
    pairsAmong(groups.filter(({ kind }) => kind !== 'outside')),
  ];
  const found = new Map(cells.map((cell) => [`${cell.src} ${cell.dst}`, cell]));
  return (
    <>
      <GroupingFields summary={summary} />
      {by === null && <p class="dim">No peer has labels, so none are grouped.</p>}
      <p>
        {left > 0
          ? `${left} open cells with the fewest pairs are not shown. Filter by labels.`
          : `${groups.length} ${groups.length === 1 ? 'group' : 'groups'}: ${countText(open)} of ${countText(pairs)} ordered pairs of peers are reachable.`}
      </p>
      {groups.length === 0 && <p class="dim">{NO_MATCH}</p>}
      <label class="check">
        <input
          type="checkbox"
          checked={!isAll}
          onChange={({ currentTarget }) => setQuery({ empty: currentTarget.checked ? undefined : '1' })}
        />
        Hide empty rows and columns
      </label>
      {groups.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keys too
        <section class="matrix" tabIndex={0} aria-label="Source and destination groups">
          <table style={{ '--columns': columns.length }}>
            <thead>
              <tr>
                <td>From ↓ to →</td>
                {columns.map(({ group, place }) => (
                  <th key={place} scope="col">
                    <GroupHead group={group} by={by} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((from) => (
                <tr key={from.place}>
                  <th scope="row">
                    <GroupHead group={from.group} by={by} isExpandable />
                  </th>
                  {columns.map((to) => (
                    <CellOf
                      key={to.place}
                      cell={found.get(`${from.place} ${to.place}`)}
                      from={from.group}
                      to={to.group}
                      by={by}
                    />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {hidden > 0 && <p class="dim">{groupsLeftText(hidden)}</p>}
      <p class="legend small dim" aria-hidden="true">
        <span>● all pairs</span>
        <span>◐ some pairs</span>
        <span>nothing: no mark</span>
      </p>
    </>
  );
}

function GroupHead({ group, by, isExpandable = false }: { group: Group; by: string | null; isExpandable?: boolean }) {
  const name = nameOf(group, by);
  const canExpand = isExpandable && by !== null && (group.kind === 'label' || group.kind === 'unlabelled');
  return (
    <span class="group-head">
      {canExpand ? (
        <button
          type="button"
          class="link"
          title={`Show the peers of ${name}`}
          onClick={() => setQuery({ by, expand: keyOf(group) })}
        >
          {name}
        </button>
      ) : (
        <span title={name}>{name}</span>
      )}
      {group.kind !== 'peer' && <span class="dim small">{sizeOf(group)}</span>}
    </span>
  );
}

interface CellProps {
  readonly cell: Cell | undefined;
  readonly from: Group;
  readonly to: Group;
  readonly by: string | null;
}

function CellOf({ cell, from, to, by }: CellProps) {
  const [src, dst] = [nameOf(from, by), nameOf(to, by)];
  if (!cell) {
    const isSelf = from === to && (from.peers < 2 || from.kind === 'outside');
    return <td class="cell none" aria-label={isSelf ? undefined : `${src} to ${dst}: nothing`} />;
  }
  const { open_pairs: open, pairs } = cell;
  const ports = portsText(cell.allowed, { most: 2, omitted: cell.omitted_ports });
  const label = `${src} to ${dst}: ${countText(open)} of ${countText(pairs)} pairs, ${ports}`;
  const { query } = route.value;
  const [source, target] = [from, to].map((group) => termOf(group, by, query.get('label')));
  const isAll = open === pairs && cell.alike;
  const heat = Math.max(1, Math.ceil((HEATS * open) / Math.max(1, pairs)));
  return (
    <td class={`cell heat-${heat} ${isAll ? 'all' : 'some'}`}>
      {source && target ? (
        // biome-ignore lint/a11y/useAnchorContent: its name is the label; the mark is drawn by the style, without text to lay out
        <a
          aria-label={label}
          title={label}
          href={linkTo('reachability', [], queryOf({ src: source, dst: target, protocol: '', port: '' }))}
        />
      ) : (
        <span class="filled" title={label}>
          <span class="visually-hidden">{label}</span>
        </span>
      )}
    </td>
  );
}

function isOutside(groups: readonly Group[], { src, dst }: Cell): boolean {
  return groups[src]?.kind === 'outside' || groups[dst]?.kind === 'outside';
}

function pairsAmong(groups: readonly Group[]): number {
  const all = groups.reduce((sum, { peers }) => sum + peers, 0);
  return all * (all - 1);
}
