import { queryOf } from '../../reach/asked.ts';
import { GroupingFields } from '../../reach/grouping-fields.tsx';
import { type Cell, type Group, keyOf, nameOf, type Summary, sizeOf, termOf } from '../../reach/groups.ts';
import { countText, portsText } from '../../reach/ports.ts';
import { linkTo, route, setQuery } from '../../route/route.ts';
import { reachability as words } from '../../texts/reachability.ts';
import { texts } from '../../texts/texts.ts';

/** Groups drawn: more columns than that nobody reads. */
const MOST = 40;

/** Groups of peers against each other: each cell says how many pairs may talk, and on what, and leads to them. */
export function Matrix({ summary }: { summary: Summary }) {
  const { groups, cells, by, omitted_groups: omitted, omitted_cells: left } = summary;
  const shown = groups.map((group, place) => ({ group, place })).slice(0, MOST);
  const hidden = groups.length - shown.length + (omitted > 0 ? omitted - 1 : 0);
  const [open, pairs] = [
    cells.reduce((sum, cell) => sum + (isOutside(groups, cell) ? 0 : cell.open_pairs), 0),
    pairsAmong(groups.filter(({ kind }) => kind !== 'outside')),
  ];
  const found = new Map(cells.map((cell) => [`${cell.src} ${cell.dst}`, cell]));
  return (
    <>
      <GroupingFields summary={summary} />
      {by === null && <p class="dim">{words.noLabels}</p>}
      <p>{left > 0 ? words.unsure(left) : words.summary(groups.length, countText(open), countText(pairs))}</p>
      {groups.length === 0 && <p class="dim">{texts.common.noMatch}</p>}
      {groups.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keys too
        <section class="matrix" tabIndex={0} aria-label={words.fromGroups}>
          <table>
            <thead>
              <tr>
                <td>{words.fromTo}</td>
                {shown.map(({ group, place }) => (
                  <th key={place} scope="col">
                    <GroupHead group={group} by={by} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((from) => (
                <tr key={from.place}>
                  <th scope="row">
                    <GroupHead group={from.group} by={by} isExpandable />
                  </th>
                  {shown.map((to) => (
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
      {hidden > 0 && <p class="dim">{words.cut(hidden)}</p>}
      <p class="legend small dim" aria-hidden="true">
        <span class="cell all">● {words.legend.all}</span>
        <span class="cell some">◐ {words.legend.some}</span>
        <span class="cell none">– {words.legend.none}</span>
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
          title={words.expand(name)}
          onClick={() => setQuery({ by, expand: keyOf(group) })}
        >
          {name}
        </button>
      ) : (
        <span>{name}</span>
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
    return (
      <td class="cell none">
        <span aria-hidden="true">{isSelf ? '' : '–'}</span>
        {!isSelf && <span class="visually-hidden">{words.closed(src, dst)}</span>}
      </td>
    );
  }
  const { open_pairs: open, pairs } = cell;
  const ports = portsText(cell.allowed, { most: 2, omitted: cell.omitted_ports });
  const label = words.cell(src, dst, countText(open), countText(pairs), ports);
  const { query } = route.value;
  const [source, target] = [from, to].map((group) => termOf(group, by, query.get('label')));
  const isAll = open === pairs && cell.alike;
  const content = (
    <>
      <span aria-hidden="true">
        {isAll ? '●' : '◐'} {ports}
      </span>
      <span aria-hidden="true" class="small dim">
        {countText(open)}/{countText(pairs)}
      </span>
    </>
  );
  return (
    <td class={`cell ${isAll ? 'all' : 'some'}`}>
      {source && target ? (
        <a
          aria-label={label}
          title={label}
          href={linkTo('reachability', [], queryOf({ src: source, dst: target, protocol: '', port: '' }))}
        >
          {content}
        </a>
      ) : (
        <span class="filled" title={label}>
          {content}
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
